-- The shared queue, version 1, in the schema that comes first in the search path.

-- The time all machines go by. Nothing in here asks a worker what time it is.
CREATE FUNCTION memsyncd_now() RETURNS float8 LANGUAGE sql STABLE
    AS $$ SELECT extract(epoch FROM statement_timestamp())::float8 $$;

-- One brake for each destination and account. `until` is not null while it cools; after that time one job goes as the
-- `probe`. `epoch` rises whenever a cooldown begins or ends: it tells whether a run began before or after that.
CREATE TABLE memsyncd_destinations (
    account text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    until float8,
    why text NOT NULL DEFAULT '',
    code text NOT NULL DEFAULT '',
    failures integer NOT NULL DEFAULT 0,
    parked boolean NOT NULL DEFAULT false,
    since float8,
    last_success_at float8,
    epoch bigint NOT NULL DEFAULT 0,
    probe bytea,
    PRIMARY KEY (account, name)
);

-- `key` and `lane` are digests: what they are digests of is in `sealed`, with the payload.
-- `head`: this ready job is the first of its lane, destination and account, and no other of its lane is claimed. Only
-- heads are looked at when claiming, so that a lane's or a destination's backlog is never walked through.
-- `cools`: how often in a row this job ended with its destination failing; such a job goes behind its neighbours.
-- `claim_owner` stays when a run has ended: it tells whose end that was (of a lost answer to a commit, say).
CREATE TABLE memsyncd_jobs (
    key bytea PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL,
    lane bytea,
    destination text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    host text NOT NULL,
    priority integer NOT NULL,
    state text COLLATE "C" NOT NULL
        CHECK (state IN ('ready', 'claimed', 'waiting', 'done', 'dead', 'cancelled')),
    head boolean NOT NULL DEFAULT false,
    not_before float8,
    attempts integer NOT NULL DEFAULT 0,
    crashes integer NOT NULL DEFAULT 0,
    cools integer NOT NULL DEFAULT 0,
    claim_owner text,
    claim_worker text,
    claim_expires float8,
    claim_epoch bigint,
    sealed bytea NOT NULL,
    errors text NOT NULL DEFAULT '[]',
    reason text NOT NULL DEFAULT '',
    created_at float8 NOT NULL,
    updated_at float8 NOT NULL,
    ready_since float8
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

CREATE INDEX memsyncd_jobs_heads ON memsyncd_jobs (account, destination, cools, priority DESC, seq) WHERE head;
CREATE INDEX memsyncd_jobs_lane ON memsyncd_jobs (lane, state, destination, account, priority DESC, seq)
    WHERE lane IS NOT NULL;
CREATE INDEX memsyncd_jobs_lane_heads ON memsyncd_jobs (lane) WHERE head AND lane IS NOT NULL;
CREATE UNIQUE INDEX memsyncd_jobs_lane_claimed ON memsyncd_jobs (lane) WHERE state = 'claimed' AND lane IS NOT NULL;
CREATE INDEX memsyncd_jobs_claims ON memsyncd_jobs (claim_expires) WHERE state = 'claimed';
CREATE INDEX memsyncd_jobs_due ON memsyncd_jobs (not_before) WHERE state = 'waiting';
CREATE INDEX memsyncd_jobs_ready ON memsyncd_jobs (account, destination, ready_since) WHERE state = 'ready';
CREATE INDEX memsyncd_jobs_over ON memsyncd_jobs (state, updated_at) WHERE state IN ('done', 'cancelled', 'dead');

-- By how many seconds all stored times were moved so far, because the database's own clock was set.
CREATE TABLE memsyncd_clock (moved float8 NOT NULL);
INSERT INTO memsyncd_clock VALUES (0);

-- Take the first lock of a lane, if nobody has it. jobs/queue/postgres/lanes.py waits for the same ones.
CREATE FUNCTION memsyncd_try_lane(lane bytea) RETURNS boolean LANGUAGE sql VOLATILE
    AS $$ SELECT pg_try_advisory_xact_lock(1835365235, (get_byte(lane, 0) & 3) << 8 | get_byte(lane, 1)) $$;

-- Bring the heads of lanes up to date, whose locks are held; return how many jobs became heads. In each lane that is the
-- first ready one of each destination and account, found by jumping from one to the next in the index: a flush held by a
-- cooling platform must not stand before the same session's local work.
CREATE FUNCTION memsyncd_reseat(p_lanes bytea[]) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_lane bytea;
    v_first record;
    v_firsts bytea[];
    v_new integer := 0;
BEGIN
    FOREACH v_lane IN ARRAY p_lanes LOOP
        v_firsts := '{}';
        SELECT j.key, j.destination, j.account, j.head INTO v_first FROM memsyncd_jobs AS j
            WHERE j.lane = v_lane AND j.state = 'ready'
            AND NOT EXISTS (SELECT FROM memsyncd_jobs AS c WHERE c.lane = v_lane AND c.state = 'claimed')
            ORDER BY j.destination, j.account, j.priority DESC, j.seq LIMIT 1;
        WHILE FOUND LOOP
            v_firsts := v_firsts || v_first.key;
            IF NOT v_first.head THEN
                UPDATE memsyncd_jobs AS j SET head = true WHERE j.key = v_first.key;
                v_new := v_new + 1;
            END IF;
            SELECT j.key, j.destination, j.account, j.head INTO v_first FROM memsyncd_jobs AS j
                WHERE j.lane = v_lane AND j.state = 'ready'
                AND (j.destination, j.account) > (v_first.destination, v_first.account)
                ORDER BY j.destination, j.account, j.priority DESC, j.seq LIMIT 1;
        END LOOP;
        UPDATE memsyncd_jobs AS j SET head = false WHERE j.lane = v_lane AND j.head AND j.key <> ALL (v_firsts);
    END LOOP;
    RETURN v_new;
END
$$;

-- Take the next job, in one round trip: an account's turn is over with each job it gets (`p_after` had the last one);
-- within the account the first of each destination by priority, then first come.
-- Returns one row: the claimed job; or one without a key, whose state tells why: none; contended: there are some, and
-- others are taking them at this moment; overdue: nothing was looked at, for claims ran out or jobs fell due, which comes
-- first (`p_upkept`: it was done already).
CREATE FUNCTION memsyncd_claim(p_owner text, p_worker text, p_lease float8, p_after text, p_upkept boolean)
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
        WHERE (d.until IS NULL OR (d.until <= v_now AND d.probe IS NULL)) AND EXISTS (
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
            WHERE d.account = v_turn.account AND (d.until IS NULL OR (d.until <= v_now AND d.probe IS NULL))
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
