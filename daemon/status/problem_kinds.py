"""What can be wrong, in one table: the sentence a person reads, what to type, and whether health turns red.

Health is CONTRACT's "Health": dead letters, corrupt files and the like are problems, not ill health.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One line of the table. `degrades`: health turns red. `{where}` and `{detail}` are filled in."""

    degrades: bool
    message: str
    remedy: str


def _red(message: str, remedy: str) -> Kind:
    return Kind(degrades=True, message=message, remedy=remedy)


def _note(message: str, remedy: str) -> Kind:
    return Kind(degrades=False, message=message, remedy=remedy)


KINDS: dict[str, Kind] = {
    "key-refused": _red(
        "{where} refuses the key",
        "Write a valid key into the file named by platform.api_key_file (`memsyncd config show` tells where the key "
        "comes from); it is taken up within 15 seconds and nothing that waits is lost. A key from the environment "
        "needs a restart of `memsyncd run`.",
    ),
    "quota": _red(
        "The account's limit at {where} is reached",
        "Raise the limit or wait until it is renewed; it is probed by itself. `memsyncd jobs list --state waiting` "
        "shows what waits.",
    ),
    "offline": _red(
        "{where} cannot be reached",
        "Check the network, and platform.url and http.proxy with `memsyncd config show`; it is tried again by itself "
        "and nothing that waits is lost.",
    ),
    "busy": _red(
        "{where} says it is too busy",
        "Nothing to do if this passes: it is tried again by itself. `memsyncd status --watch` shows when it answers.",
    ),
    "not-understood": _red(
        "{where} gives answers that are not a memory platform's",
        "Check platform.url and http.proxy with `memsyncd config show`; on a network with a login page, log in first.",
    ),
    "login-page": _red(
        "Something else answers in the place of {where}, as the login page of a network does",
        "Log in to the network in a browser; without a login page, check platform.url and http.proxy with `memsyncd "
        "config show`. It is asked every 15 seconds at first, without your key, and goes on by itself; nothing that "
        "waits is lost.",
    ),
    "platform-failed": _red(
        "{where} cannot store anything",
        "The detail says why: free space, or move a damaged `memory.sqlite3` aside with its `-wal` and `-shm` "
        "(`memsyncd config path` tells where it is). It is noticed within 15 seconds; nothing that waits is lost.",
    ),
    "stuck-claim": _red(
        "A job has been running without a sign of life",
        "`memsyncd jobs list --state claimed` names it; end `memsyncd run` and start it again, which gives every "
        "claim back.",
    ),
    "no-progress": _red(
        "Work is ready, but nothing gets finished",
        "`memsyncd jobs list --state ready` shows the work; end `memsyncd run` and start it again, and keep its log "
        "if that helps.",
    ),
    "not-answering": _red(
        "A daemon ({where}) is there and does not answer",
        "Wait a few seconds if it has just been started; otherwise end it (`kill` with its pid, and `kill -9` if it is "
        "still there after ten seconds) and start `memsyncd run` again. Nothing that waits is lost.",
    ),
    "slow-start": _red(
        "The start is taking unusually long",
        "`memsyncd status --watch` shows whether the spools are getting emptier; the log of `memsyncd run` says what "
        "it is at.",
    ),
    "data-closed": _red(
        "{where} is closed to you",
        "`ls -ld {where}` shows whose it is: type this as that user, or make it yours "
        '(`sudo chown -R "$(id -un)" {where}`).',
    ),
    "spool-unreadable": _red(
        "The spool {where} cannot be read",
        "It has to belong to you with mode 0700: `ls -ld {where}` shows it, `chmod -R u+rwX {where}` mends the mode. "
        "Where it is another's, `sudo chown -R $USER {where}` if it is your spool, else correct its path in "
        "`[[spools]]` (`memsyncd config show`). It is tried again every 15 s.",
    ),
    "spool-no-directory": _red(
        "Where the spool {where} should be, or a directory of it, is something else",
        "`ls -ld {where} {where}/*` shows what. Correct the path in `[[spools]]` (`memsyncd config show`), or where "
        "that is right move it elsewhere: nothing is changed there, and it is looked at again every 15 s.",
    ),
    "spool-not-permitted": _red(
        "The system keeps the daemon out of the spool {where}, whatever its modes say",
        "A service may be kept out of a folder that your terminal gets into. On macOS, give the interpreter that "
        "`memsyncd doctor` names Full Disk Access (System Settings, Privacy & Security), or move the spool; on Linux, "
        "`lsattr -d {where}` and `journalctl -k` show what is in the way. What is in it waits.",
    ),
    "spool-read-only": _red(
        "The spool {where} cannot be written",
        "Make it writable (`chmod -R u+rwX {where}`) or mount it writable; until then what lies in it is kept and not "
        "taken in, and what hooks cannot write there is lost.",
    ),
    "spool-full": _red(
        "There is no room for what the spool {where} takes in",
        "Free some space or inodes (`df -h {where}`, `df -i {where}`); then it goes on by itself. What lies in it is "
        "kept; what hooks find no room for is lost.",
    ),
    "spool-locked": _red(
        "Another program holds the evidence of the spool {where}",
        "`fuser {where}/evidence.sqlite3` names it; once it lets go this goes on by itself, and what waits is kept.",
    ),
    "spool-failing": _red(
        "The spool {where} cannot be worked on",
        "The detail says why: for input and output look at the disk (`dmesg`), for too many open files raise the "
        "limit of `memsyncd run`. It is tried again every 15 s, and what waits is kept.",
    ),
    "spool-waits": _red(
        "The spool {where} waits for the queue",
        "The detail says why: free some space, or see who holds its file (`fuser`; `memsyncd config path` tells the "
        "data directory it is in). Then this goes on by itself, and what waits is kept.",
    ),
    "forgotten-unreadable": _red(
        "Nothing is taken in, for nobody knows what was forgotten and must not come back",
        "Put the file back from a backup; where it is whole, make it yours and readable (`ls -l {where}`). Without a "
        "backup, `mv {where} {where}.old` and forget again what must not come back (`memsyncd forget`). It is noticed "
        "within 15 s, and what waits is kept.",
    ),
    "forgotten-newer": _red(
        "Nothing is taken in, for only a newer version knows what was forgotten and must not come back",
        "Upgrade memsyncd (`memsyncd --version` tells yours) and start `memsyncd run` again; what waits is kept.",
    ),
    "newer-evidence": _red(
        "The evidence in {where} was written by a newer version and is left untouched",
        "Upgrade memsyncd (`memsyncd --version` tells yours) and start `memsyncd run` again.",
    ),
    "queue-unreadable": _red(
        "The queue {where} cannot be read",
        "Check who owns it with `ls -l {where}`. If it is damaged, start `memsyncd run`: it is kept, and what the "
        "spools hold is queued again.",
    ),
    "queue-unavailable": _red(
        "The queue {where} cannot be used at the moment",
        "It is tried again by itself. Look for free space (`df -h {where}`) and who else has the file open "
        "(`fuser {where}`); nothing that waits is lost.",
    ),
    "shared-queue-unreachable": _red(
        "The shared queue cannot be used",
        "It is tried again by itself every few seconds, and what is recorded waits here meanwhile. See that the "
        "database runs and that `queue.url` names it: `memsyncd config show`.",
    ),
    "shared-queue-refused": _red(
        "The database of the shared queue does not serve this machine",
        "The detail says why. Correct login, password, certificate or database in `queue.url` (`memsyncd config show` "
        "tells where it is from; PGPASSFILE and the like count too) and reload or start `memsyncd run` again, or have "
        "it let in by whoever keeps the database. What is recorded waits here meanwhile.",
    ),
    "no-worker-for-account": _note(
        "Batches of {where} wait in the shared queue, and no worker that runs has the account's key",
        "Put the key into a worker's `queue.keys_directory`, in a file named like the account, or start a worker with "
        "that `queue.account` and the same platform. Nothing that waits is lost.",
    ),
    "shared-batch-newer": _note(
        "Batches in the shared queue are of a newer version, and this worker leaves them to others",
        "Upgrade memsyncd on this machine (`memsyncd --version` tells yours). Nothing that waits is lost.",
    ),
    "queue-renewed": _note(
        "The queue was damaged and begun anew; the damaged file is kept as {where}",
        "What the spools hold was queued again, and only the history of jobs is in that file alone: `rm {where}*` "
        "deletes it, or it goes by itself when dead letters do.",
    ),
    "queue-newer": _red(
        "The queue {where} was written by a newer version and is left untouched",
        "Upgrade memsyncd (`memsyncd --version` tells yours).",
    ),
    "memory-newer": _red(
        "The memories and notes in {where} were written by a newer version and are left untouched",
        "Upgrade memsyncd (`memsyncd --version` tells yours).",
    ),
    "config-wrong": _red(
        "The configuration is wrong",
        "`memsyncd config check` says what and where.",
    ),
    "disk-nearly-full": _red(
        "The disk of {where} is nearly full",
        "Free some space (`df -h {where}`). What is recorded waits and is kept; what hooks find no room for is lost.",
    ),
    "inodes-nearly-gone": _red(
        "The disk of {where} takes hardly another file, whatever space it has",
        "Delete files nobody needs (`df -i {where}` counts them). What is recorded waits and is kept; what hooks find "
        "no room for is lost.",
    ),
    "no-descriptors": _red(
        "The daemon has no file descriptor left",
        "Raise its limit (LimitNOFILE= of its unit, or `ulimit -n` before `memsyncd run`). Once there is one it goes "
        "on by itself, and nothing is lost.",
    ),
    "watcher-dead": _red(
        "Nobody watches the spools",
        "End `memsyncd run` and start it again; on Linux, `sysctl fs.inotify.max_user_instances` may be too low.",
    ),
    "watcher-polling": _note(
        "File watching is not available; the spools are scanned on a timer instead",
        "Nothing is lost, things start up to 15 s later, and it is tried again by itself. On Linux, raise `sysctl "
        "fs.inotify.max_user_watches`, or for too many open files `sysctl fs.inotify.max_user_instances`.",
    ),
    "dead-letters": _note(
        "{where} given up",
        "`memsyncd jobs list --state dead` says why; then `memsyncd jobs retry --dead`, or `memsyncd jobs discard ID`.",
    ),
    "corrupt-files": _note(
        "{where} no handoff and kept whole",
        "Look at them with `ls -l {detail}`, and remove them once nobody needs them.",
    ),
    "clock-jumped": _note(
        "The clock jumped; waiting times were moved along",
        "Nothing to do; `timedatectl` (or `date`) shows whether the clock is right now.",
    ),
    "clock-doubted": _note(
        "The clock says something quite other than before, so nothing is deleted because of its age for some days",
        "Look whether it is right: `timedatectl` (or `date`). If it is not, set it; if it is, there is nothing to do.",
    ),
    "key-missing": _red(
        "There is no key for {where}",
        "Write it into a file of mode 0600 and name that in platform.api_key_file (`memsyncd config path` says where "
        'the settings are), or set platform.kind = "local" to keep memories on this machine.',
    ),
    "key-exposed": _note(
        "The key is in use, but not kept well",
        "`chmod 600` the file that the detail names; `memsyncd config show` tells where the key comes from.",
    ),
    "upkeep-failed": _red(
        "Looking after {where} failed",
        "It is tried again every 15 s; the log of `memsyncd run` names the file.",
    ),
    "odd-file": _note(
        "{where} is named like a handoff and cannot be taken in",
        "`ls -ld {where}` shows what it is. Make a file yours and readable, and move or remove anything else (`rm -ri "
        "{where}`); its neighbours are taken in meanwhile.",
    ),
    "transcript-unreadable": _note(
        "A transcript of {where} cannot be read, so answers are missing that its hooks do not tell",
        "The detail names the file and says why: `ls -l` shows whose it is. It is tried again with the next answer; "
        "what was said since the last one read is taken then.",
    ),
    "hook-errors": _note(
        "Hooks could not write their handoffs",
        "The hook's log says why: `tail {where}`.",
    ),
    "evidence-read-only": _note(
        "The evidence in {where} has an unknown form and is only read",
        "Nothing to do if another tool owns it; otherwise upgrade memsyncd (`memsyncd --version` tells yours).",
    ),
    "evidence-renewed": _note(
        "Evidence was damaged and begun anew; what was recorded in it and not sent is in {where} alone",
        "`sqlite3 {where} .recover` prints what can still be read of it. Move it elsewhere to keep it, or delete it "
        "(`rm {where}*`): it is kept, and told of, until then. What was delivered before is on the platform.",
    ),
    "evidence-replaced": _note(
        "The evidence in {where} was removed or replaced while it was served",
        "The file that is there now is used, and what only the other one held is not sent. To put that back, end "
        "`memsyncd run` first.",
    ),
    "telemetry-refused": _note(
        "The telemetry endpoint {where} refuses the key",
        "Write the right one into telemetry.api_key (`memsyncd config path` says where) and start `memsyncd run` "
        "again, or switch it off with telemetry.enabled = false. Nothing else depends on it.",
    ),
    "telemetry-waits": _note(
        "Telemetry cannot be sent to {where} at the moment",
        "Nothing to do: it is tried again by itself and nothing else depends on it. `memsyncd telemetry` shows what "
        "waits.",
    ),
    "extractor-away": _note(
        "The model at {where} does not answer, so plain rules make the memories",
        "Start it, or check extractor.url and its key (`memsyncd config show`); it is asked again by itself, and "
        "nothing waits for it meanwhile.",
    ),
    "extractor-unused": _note(
        "The model at {where} was no help with the last batch, so plain rules made its memories",
        "The detail says why: another extractor.model, more time (extractor.wait_seconds) or a larger budget "
        "(`memsyncd config show` tells the present ones). Nothing is lost.",
    ),
    "socket-foreign": _red(
        "The socket's place {where} is not free for a daemon of yours",
        "`ls -l {where}` shows what is there; move it elsewhere and start `memsyncd run`.",
    ),
    "socket-elsewhere": _note(
        "The socket's path was too long for this system, so it is at {where}",
        "Nothing to do: `memsyncd config path` tells it, and every command finds it.",
    ),
}
"""Every code a status may carry."""
