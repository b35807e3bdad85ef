"""The queue shared by several machines: the contract of `jobs.queue.contract` and `jobs.queue.claims` on PostgreSQL.

Opening. `jobs.queue.shared.open_shared(url, host=…, worker=…, …)` loads psycopg (17 MB, and nowhere else), connects,
brings the tables forward and returns a `queue.PostgresQueue`. `NewerSchema` and `NotSetUp` are for exit code 78;
`QueueUnavailable` (no connection) passes. What the embedded queue has not:

- `host`: shown with every job that is enqueued here (`Job.host`). `jobs(host=…)` lists one host's, without it all.
- `worker`: the claimer's own name, this machine's and data directory's, the same after a restart. `void_claims()` gives
  back claims of this name alone; those of others run out by the database's clock.
- `account`: whose the work is. `NewJob.account`, else the account the queue was opened with, else (for jobs that come
  with an outcome) that of the job that ran; `Job.account` tells it. Accounts take turns, and a destination has a brake
  for each: `Destination.account`, `release(name, account)`. Empty is an account like any other.
- `listen()`: starts the thread that rings the bell for other machines' jobs. Before `Workers.start`; who does not claim
  need not. `dead_threads()` names it if it died; `is_listening` tells whether news come in.
- `sealing`: what seals id, lane and payload (`sealing.Sealing`); None: JSON as it is. Columns
  hold digests, never names.
- `shift_clock()` looks at the database's clock and at nothing else.

The URL is libpq's: several hosts may stand in it, for a fail-over. No pooler that shares connections between
transactions may stand between (LISTEN and settings belong to a connection). Tables live in the first schema of the
search path; `roles.sql` makes the roles with the least rights.

Standing on huey: `storage.SharedStorage` is huey's PostgresStorage for its connections and its channel. Its tables and
its taking of tasks, which deletes them, are not used.
"""
