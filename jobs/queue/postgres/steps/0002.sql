-- The shared queue, step 2: a worker takes what it can deliver, and what nobody can is told. Whoever knows step 1 alone
-- goes on with these tables as before.

-- The workers that run, as each says of itself a few times a minute: the accounts whose keys it has, and the destination
-- that it delivers to.
CREATE TABLE memsyncd_workers (
    name text PRIMARY KEY,
    host text NOT NULL,
    accounts text[] COLLATE "C" NOT NULL,
    destination text COLLATE "C" NOT NULL,
    seen_at float8 NOT NULL
);

-- What tells this queue from every other, also in a copy of it: what an edge has put into one is not looked for in another.
CREATE TABLE memsyncd_identity (id text NOT NULL);
INSERT INTO memsyncd_identity VALUES (gen_random_uuid());

-- Take the next job, in one round trip: an account's turn is over with each job it gets (`p_after` had the last one);
-- within the account the first of each destination by priority, then first come.
-- Returns one row: the claimed job; or one without a key, whose state tells why: none; contended: there are some, and
-- others are taking them at this moment; overdue: nothing was looked at, for claims ran out or jobs fell due, which comes
-- first (`p_upkept`: it was done already).
-- Only jobs of `p_accounts` for `p_destination` are taken, as far as they are not null: whoever has no key of an account
-- leaves its jobs to those that have.
CREATE FUNCTION memsyncd_claim(p_owner text, p_worker text, p_lease float8, p_after text, p_upkept boolean,
    p_accounts text[], p_destination text)
    RETURNS SETOF memsyncd_jobs LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_now CONSTANT float8 := memsyncd_now();
    v_turn record;
    v_candidate record;
    v_epoch bigint;
    v_job memsyncd_jobs;
    v_seen boolean := false;
BEGIN
    IF NOT p_upkept AND (
        EXISTS (SELECT FROM memsyncd_jobs AS j WHERE j.state = 'claimed' AND j.claim_expires <= v_now)
        OR EXISTS (SELECT FROM memsyncd_jobs AS j WHERE j.state = 'waiting' AND j.not_before <= v_now)
    ) THEN
        v_job.state := 'overdue';
        RETURN NEXT v_job;
        RETURN;
    END IF;
    FOR v_turn IN
        SELECT d.account FROM memsyncd_destinations AS d
        WHERE (p_accounts IS NULL OR d.account = ANY (p_accounts))
        AND (p_destination IS NULL OR d.name = p_destination)
        AND (d.until IS NULL OR (d.until <= v_now AND d.probe IS NULL)) AND EXISTS (
            SELECT FROM memsyncd_jobs AS j WHERE j.head AND j.account = d.account AND j.destination = d.name
        )
        GROUP BY d.account ORDER BY d.account <= p_after, d.account
    LOOP
        FOR v_candidate IN
            SELECT d.name, d.until IS NOT NULL AS cooling, first.key, first.lane
            FROM memsyncd_destinations AS d CROSS JOIN LATERAL (
                SELECT j.key, j.lane, j.priority, j.seq,
                    row_number() OVER (ORDER BY j.cools, j.priority DESC, j.seq) AS place
                FROM memsyncd_jobs AS j WHERE j.head AND j.account = d.account AND j.destination = d.name
                ORDER BY j.cools, j.priority DESC, j.seq LIMIT 16
            ) AS first
            WHERE d.account = v_turn.account AND (p_destination IS NULL OR d.name = p_destination)
            AND (d.until IS NULL OR (d.until <= v_now AND d.probe IS NULL))
            ORDER BY first.place, first.priority DESC, first.seq
        LOOP
            v_seen := true;
            CONTINUE WHEN v_candidate.lane IS NOT NULL AND NOT memsyncd_try_lane(v_candidate.lane);
            PERFORM FROM memsyncd_jobs AS j WHERE j.key = v_candidate.key AND j.head FOR UPDATE SKIP LOCKED;
            CONTINUE WHEN NOT FOUND;
            IF v_candidate.cooling THEN
                SELECT d.epoch INTO v_epoch FROM memsyncd_destinations AS d
                    WHERE d.account = v_turn.account AND d.name = v_candidate.name AND d.probe IS NULL
                    AND d.until <= v_now FOR UPDATE SKIP LOCKED;
                CONTINUE WHEN NOT FOUND;
                UPDATE memsyncd_destinations AS d SET probe = v_candidate.key
                    WHERE d.account = v_turn.account AND d.name = v_candidate.name;
            ELSE
                SELECT d.epoch INTO v_epoch FROM memsyncd_destinations AS d
                    WHERE d.account = v_turn.account AND d.name = v_candidate.name AND d.until IS NULL;
                CONTINUE WHEN NOT FOUND;
            END IF;
            UPDATE memsyncd_jobs AS j SET state = 'claimed', head = false, not_before = NULL, reason = '',
                ready_since = NULL, claim_owner = p_owner, claim_worker = p_worker, claim_expires = v_now + p_lease,
                claim_epoch = v_epoch, updated_at = v_now
                WHERE j.key = v_candidate.key RETURNING * INTO v_job;
            IF v_job.lane IS NOT NULL THEN
                UPDATE memsyncd_jobs AS j SET head = false WHERE j.lane = v_job.lane AND j.head;
            END IF;
            RETURN NEXT v_job;
            RETURN;
        END LOOP;
    END LOOP;
    v_job.state := CASE WHEN v_seen THEN 'contended' ELSE 'none' END;
    RETURN NEXT v_job;
END
$$;

-- For whoever knows step 1 alone: it has no such list, and takes jobs of every account.
CREATE OR REPLACE FUNCTION memsyncd_claim(p_owner text, p_worker text, p_lease float8, p_after text, p_upkept boolean)
    RETURNS SETOF memsyncd_jobs LANGUAGE sql VOLATILE
    AS $$ SELECT * FROM memsyncd_claim(p_owner, p_worker, p_lease, p_after, p_upkept, NULL, NULL) $$;
