-- Roles for memsyncd's shared queue, with the least rights each needs. Run once by whoever administers the database, in
-- that database (`psql -f roles.sql DATABASE`); again after an update does no harm.
--
--   memsyncd_owner   makes and changes the tables. A person or a deployment uses it: start memsyncd once with it.
--   memsyncd_member  what workers and edges are: they read and write the rows, and can change no table.
--
-- Neither can log in. Give each machine a login of its own and make it a member:
--
--   CREATE ROLE worker_one LOGIN PASSWORD '…' IN ROLE memsyncd_member;
--   ALTER ROLE worker_one IN DATABASE queue SET search_path = memsyncd;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'memsyncd_owner') THEN
        CREATE ROLE memsyncd_owner NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'memsyncd_member') THEN
        CREATE ROLE memsyncd_member NOLOGIN;
    END IF;
END
$$;

CREATE SCHEMA IF NOT EXISTS memsyncd AUTHORIZATION memsyncd_owner;
REVOKE ALL ON SCHEMA memsyncd FROM PUBLIC;
GRANT USAGE ON SCHEMA memsyncd TO memsyncd_member;

ALTER DEFAULT PRIVILEGES FOR ROLE memsyncd_owner IN SCHEMA memsyncd
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO memsyncd_member;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA memsyncd TO memsyncd_member;
