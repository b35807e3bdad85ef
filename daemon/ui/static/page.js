"use strict";
// The whole page. Whatever comes from sessions, memories or platforms is put in as text and never as markup.
(() => {
  const TOKEN = document.querySelector('meta[name="memsyncd-token"]').content;
  const EVERY = { overview: 5, sessions: 15, memories: 15, jobs: 5, charts: 30 }; // seconds
  const UNATTENDED = 600000; // after so many milliseconds without a key or a pointer nothing is asked for any more
  const CATEGORIES = ["project_knowledge", "decisions_and_constraints", "workflows", "problems_and_fixes", "results"];
  const PAGES = ["overview", "sessions", "memories", "jobs", "charts"];
  const $ = (id) => document.getElementById(id);
  const now = { page: "", up: true, local: true, ended: false, touched: Date.now(), jobs: "", span: 1440, home: "" };

  // Elements

  function el(name, options, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(options || {})) {
      if (key === "class") made.className = value;
      else if (key === "on") made.addEventListener("click", value);
      else if (value === true) made.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return made;
  }

  function shape(name, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function withCode(text) { // `this` becomes code
    const parts = String(text).split("`");
    return parts.map((part, at) => (at % 2 && at < parts.length - 1 ? el("code", {}, part) : part));
  }

  const shown = new Map();
  function show(place, data, make) { // redrawn only where something is new; what was open or in focus stays so
    const written = JSON.stringify(data);
    if (shown.get(place.id) === written) return;
    shown.set(place.id, written);
    const open = new Set([...place.querySelectorAll("details[open]")].map((each) => each.dataset.key));
    const focus = place.contains(document.activeElement) && document.activeElement.dataset.key;
    place.replaceChildren(...make());
    for (const each of place.querySelectorAll("details")) if (open.has(each.dataset.key)) each.open = true;
    if (focus) [...place.querySelectorAll("[data-key]")].find((each) => each.dataset.key === focus && each.tagName !== "DETAILS")?.focus();
  }

  function toast(text) {
    $("toast").textContent = text;
    $("toast").hidden = false;
    clearTimeout(toast.timer);
    toast.timer = setTimeout(() => { $("toast").hidden = true; }, 4000);
  }

  // Words

  const count = (number, one, more) => `${Number(number || 0).toLocaleString("en")} ${number === 1 ? one : more}`;

  function span(seconds) {
    const whole = Math.floor(Math.max(0, seconds));
    if (whole < 120) return `${whole} s`;
    if (whole < 7200) return `${Math.floor(whole / 60)} min`;
    if (whole < 172800) return `${Math.floor(whole / 3600)} h`;
    return `${Math.floor(whole / 86400)} days`;
  }

  function ago(moment) {
    const away = (Date.now() - Date.parse(moment)) / 1000;
    if (Number.isNaN(away)) return "never";
    if (Math.abs(away) < 1) return "just now";
    return away > 0 ? `${span(away)} ago` : `in ${span(-away)}`;
  }

  function when(moment) {
    if (!moment || Number.isNaN(Date.parse(moment))) return el("span", {}, "never");
    return el("time", { datetime: moment, title: new Date(moment).toLocaleString() }, ago(moment));
  }

  const tidy = (path) => (now.home && String(path).startsWith(`${now.home}/`) ? `~${path.slice(now.home.length)}` : String(path));
  const short = (name) => (String(name).length > 24 ? `${String(name).slice(0, 12)}…` : String(name));

  // Asking

  async function ask(method, name, body) {
    const options = { method, cache: "no-store", credentials: "same-origin", redirect: "error" };
    if (method === "POST") {
      options.headers = { "Content-Type": "application/json", "Memsyncd-Token": TOKEN };
      options.body = JSON.stringify(body || {});
    }
    let answer;
    try {
      answer = await fetch(`api/${name}`, options);
    } catch {
      end();
      throw new Error("This page has ended.");
    }
    if (answer.status === 403) end();
    const document_ = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(document_.error || `The page answered ${answer.status}.`);
    return document_;
  }

  function end() {
    now.ended = true;
    banner("This page has ended: its command was stopped, or nobody looked for 15 minutes. `memsyncd ui` starts another.");
    document.querySelectorAll("button, input, select").forEach((each) => { each.disabled = true; });
  }

  function banner(text) {
    if ($("banner").dataset.text === text) return;
    $("banner").dataset.text = text;
    $("banner").hidden = !text;
    $("banner").replaceChildren(...withCode(text));
  }

  // Overview

  const TONES = { ok: "good", starting: "warn", stopping: "warn", paused: "warn" };

  async function overview() {
    const told = await ask("GET", "overview");
    const status = told.status;
    now.up = status.state !== "down";
    now.local = (status.platform || {}).kind === "local";
    now.home = told.home;
    now.here = told.here;
    const tone = TONES[status.state] || "bad";
    $("state").className = `pill ${tone}`;
    $("state").textContent = status.state;
    const dead = deadLetters(status);
    $("dead-count").hidden = !dead;
    $("dead-count").textContent = dead;
    $("dead-count").title = count(dead, "dead letter", "dead letters");
    if (!now.ended) banner(now.up ? "" : "The daemon is not running: this is what its files tell. Nothing can be changed until `memsyncd run` or `memsyncd service start`.");
    const { at, uptime_seconds, counters, ...told_ } = status;
    show($("overview"), [told_, Math.floor((uptime_seconds || 0) / 60), counters], () => drawn(status, tone));
  }

  function deadLetters(status) { // a job's own handoff lies in its spool too, and is not counted twice
    return Math.max((status.jobs || {}).dead || 0, (status.spools || []).reduce((sum, each) => sum + each.dead, 0));
  }

  function drawn(status, tone) {
    const jobs = status.jobs || {}, spools = status.spools || [], platform = status.platform || {}, extraction = status.extraction || {};
    const pending = spools.reduce((sum, each) => sum + each.pending, 0);
    const tiles = [
      [pending, "handoffs wait"], [(jobs.ready || 0) + Math.max(0, (jobs.waiting || 0) - (status.standing_jobs || 0)), "jobs wait"], [jobs.claimed, "jobs run"],
      [extraction.open, "extractions open"], [(status.evidence || {}).unsent_events, "events unsent"], [deadLetters(status), "dead letters"],
    ];
    return [
      el("div", { class: "card headline" }, el("span", { class: `pill ${tone}` }, status.state), el("p", {}, ...withCode(status.summary))),
      ...(status.problems || []).map(problem),
      el("div", { class: "tiles" }, ...tiles.map(([number, name]) => el("div", { class: "tile" }, el("b", {}, Number(number || 0).toLocaleString("en")), el("span", {}, name)))),
      el("div", { class: "card" }, el("h2", {}, "Where it goes"), el("dl", {}, ...facts(status, platform))),
      el("div", { class: "card" }, el("h2", {}, "Spools"), spools.length ? spoolTable(spools) : el("p", { class: "soft" }, "No spools yet: they appear with the first hook.")),
    ];
  }

  function problem(each) {
    return el("div", { class: `card problem ${each.degrades === false ? "" : "is-bad"}` },
      el("p", {}, el("strong", { class: "said" }, each.message), each.since ? " · first seen " : "", each.since ? when(each.since) : ""),
      el("p", {}, ...withCode(each.remedy || "")));
  }

  function facts(status, platform) {
    const well = { true: "well", false: "failing" }[platform.ok] || "not tried yet";
    const telemetry = status.telemetry || {};
    const rows = [
      ["Platform", [`${platform.kind || "?"}${platform.url ? ` at ${platform.url}` : ""} · ${well}`]],
      ["Last success", [when(platform.last_success_at)]],
      platform.cooling_until ? ["Next try", [when(platform.cooling_until)]] : null,
      platform.ok !== true && platform.last_error ? ["Last error", [platform.last_error]] : null,
      ["Telemetry", [telemetry.enabled ? `to ${telemetry.endpoint || "nowhere"}` : "off: nothing leaves this machine"]],
      ["Daemon", [status.pid ? `${status.version}, pid ${status.pid}, up ${span(status.uptime_seconds)}` : `${status.version}, not running`]],
      ["Data", [el("span", { class: "mono" }, tidy(status.data || ""))]],
      ["Socket", [el("span", { class: "mono" }, tidy(status.socket || ""))]],
    ];
    return rows.filter(Boolean).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, ...value)]);
  }

  function spoolTable(spools) {
    const head = ["Harness", "Waiting", "In work", "Given up", "Corrupt", "Oldest", "Where"];
    return el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ...head.map((name, at) => el("th", { scope: "col", class: at && at < 6 ? "number" : "" }, name)))),
      el("tbody", {}, ...spools.map((each) => el("tr", {},
        el("td", {}, each.harness, each.paused ? el("span", { class: "tag warn" }, "paused") : ""),
        ...["pending", "running", "dead", "corrupt"].map((key) => el("td", { class: "number" }, Number(each[key] || 0).toLocaleString("en"))),
        el("td", { class: "number" }, each.oldest_pending_seconds ? span(each.oldest_pending_seconds) : "–"),
        el("td", { class: "path mono" }, tidy(each.path)))))));
  }

  // Sessions

  const PACKETS = {
    "semantic-succeeded": ["delivered", "good"], "explicitly-stored": ["stored by the agent", "good"], "gave-up": ["given up", "bad"],
    prepared: ["about to go", ""], "semantic-queued": ["being turned into memories", ""], "semantic-failed": ["failed, tried again", "warn"],
    "semantic-timeout": ["late, asked again", "warn"], "semantic-missing": ["missing, sent again", "warn"], error: ["failed, tried again", "warn"],
  };
  const known = { sessions: [] };

  async function sessions() {
    const told = await ask("GET", "sessions");
    known.sessions = told.sessions;
    known.unreadable = told.unreadable || [];
    drawSessions();
  }

  function drawSessions() {
    const words = $("session-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (each) => words.every((word) => `${each.id} ${each.project} ${each.directory} ${each.harness} ${each.branch}`.toLowerCase().includes(word));
    const found = known.sessions.filter(fits);
    show($("sessions"), [found, known.unreadable, now.up], () => [
      ...(known.unreadable || []).map((name) => el("p", { class: "error" }, `The evidence of ${name} cannot be read at the moment.`)),
      ...(found.length ? found.map(session) : [el("p", { class: "empty" }, known.sessions.length ? "No session fits." : "No sessions yet. They appear as soon as a hook has told something: see `memsyncd hooks install`.".replaceAll("`", ""))]),
    ]);
  }

  function session(each) {
    const open = each.packets.filter((packet) => packet.is_open).length;
    const failed = each.packets.filter((packet) => packet.status === "gave-up").length;
    return el("details", { class: "card", "data-key": `${each.spool}/${each.id}` },
      el("summary", { "data-key": `s ${each.spool}/${each.id}` },
        el("span", { class: "title said" }, each.project || tidy(each.directory) || "no project"),
        el("span", { class: "right" }, when(each.last_at)),
        el("span", { class: "under" }, el("span", { class: "tag" }, each.harness), " ", count(each.events, "event", "events"), " · ",
          each.unsent ? `${each.unsent.toLocaleString("en")} unsent · ` : "", count(each.packets_in_all, "packet", "packets"), " ",
          open ? el("span", { class: "tag warn" }, `${open} open`) : "", failed ? el("span", { class: "tag bad" }, `${failed} given up`) : "")),
      el("div", { class: "inner" },
        el("dl", {}, ...[["Session", el("span", { class: "mono" }, each.id)], ["Directory", el("span", { class: "mono" }, tidy(each.directory) || "–")],
          ["Branch", each.branch || "–"], ["First event", when(each.first_at)], ["Last event", when(each.last_at)], ["Unsent", each.unsent ? `${count(each.unsent, "event goes", "events go")} out when the session ends` : "nothing"],
        ].flatMap(([name, value]) => [el("dt", {}, name), el("dd", { class: "said" }, value)])),
        each.packets.length ? packetTable(each) : el("p", { class: "soft" }, "No packet yet."),
        el("div", { class: "buttons" }, el("button", { class: "small danger", disabled: !now.up, "data-key": `f ${each.id}`, on: () => askToForget({ session: each.id }, `Session ${each.id}`) }, "Forget this session…"))));
  }

  function packetTable(each) {
    return el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ...["Packet", "State", "Events", "Tries", "Why it went", "Changed"].map((name, at) => el("th", { scope: "col", class: at === 2 || at === 3 ? "number" : "" }, name)))),
      el("tbody", {}, ...each.packets.map((packet) => {
        const [word, tone] = PACKETS[packet.status] || [packet.status, ""];
        return el("tr", {},
          el("td", { class: "mono", title: packet.id }, short(packet.id)),
          el("td", {}, el("span", { class: `tag ${tone}` }, word), packet.error ? el("div", { class: "soft said" }, packet.error) : ""),
          el("td", { class: "number" }, packet.events), el("td", { class: "number" }, packet.attempts || 0),
          el("td", {}, packet.reason), el("td", {}, when(packet.updated_at)));
      }))));
  }

  // Memories

  async function memories() {
    if (!known.sessions.length) await sessions();
    const places = [...new Set([now.here, ...known.sessions.map((each) => each.directory)].filter(Boolean))];
    show($("cwd"), places, () => places.map((place) => el("option", { value: place }, tidy(place))));
    if (!$("memories").children.length) $("memories").append(el("p", { class: "empty" }, "Ask as you would ask a colleague; names, files and identifiers are found too."));
  }

  async function search(event) {
    event.preventDefault();
    const asked = { query: $("query").value, cwd: $("cwd").value, scope: $("scope").value, category: $("category").value, top_k: 20 };
    for (const name of ["cwd", "scope", "category"]) if (!asked[name]) delete asked[name];
    try {
      const told = await ask("POST", "search", asked);
      const found = told.memories || [];
      shown.delete("memories");
      show($("memories"), told, () => [
        el("p", { class: "soft" }, told.succeeded === false ? "The search failed. " : `${count(found.length, "memory", "memories")}. `,
          told.source === "local-index" ? "From what is known here of the platform. " : "", told.why || ""),
        ...found.map(memory),
        found.length || told.succeeded === false ? "" : el("p", { class: "empty" }, "No matching memories found."),
      ]);
    } catch (error) {
      shown.delete("memories");
      show($("memories"), null, () => [el("p", { class: "error" }, error.message)]);
    }
  }

  function memory(each) {
    const text = String(each.memory || "");
    return el("article", { class: "card memory", "data-memory": each.id },
      el("p", { class: "said", dir: "auto" }, text),
      el("div", { class: "meta" },
        each.category ? el("span", { class: "tag" }, String(each.category).replaceAll("_", " ")) : "",
        each.created_at ? when(each.created_at) : "",
        typeof each.score === "number" ? el("span", {}, `relevance ${each.score.toFixed(2)}`) : "",
        el("span", { class: "mono" }, each.id),
        el("span", { class: "buttons" },
          el("button", { class: "small", disabled: !now.up, on: () => askToPin(text) }, "Pin…"),
          el("button", { class: "small danger", disabled: !now.up, on: () => askToForget({ memory: each.id }, text) }, "Forget…"))));
  }

  // Forgetting and pinning

  const asking = { target: {} };

  function failed(id, text) {
    $(id).textContent = text;
    $(id).hidden = !text;
  }

  const NAMES = {
    events: ["event", "events"], session_scopes: ["session", "sessions"], flushes: ["packet", "packets"], retrievals: ["recall", "recalls"],
    operations: ["operation", "operations"], subagent_runs: ["subagent run", "subagent runs"], jobs: ["job", "jobs"], handoffs: ["waiting handoff", "waiting handoffs"],
    dead_letters: ["dead handoff", "dead handoffs"], set_aside: ["file set aside", "files set aside"], damaged_stores: ["damaged store", "damaged stores"],
    memories: ["memory on this machine", "memories on this machine"], batches: ["batch", "batches"], telemetry_events: ["telemetry event", "telemetry events"],
    remote_memories: ["memory on the platform", "memories on the platform"],
  };

  function counted(counts) {
    const told = Object.entries(counts || {}).filter(([, number]) => number).map(([kind, number]) => count(number, ...(NAMES[kind] || [kind, kind])));
    return told.length ? told.join(", ") : "nothing that is known here";
  }

  async function askToForget(target, text) {
    asking.target = target;
    $("forget-what").textContent = text;
    $("forget-counts").textContent = "Looking at what would go…";
    $("forget-remote-row").hidden = now.local;
    $("forget-remote").checked = Boolean(target.memory) && !now.local;
    $("forget-yes").disabled = true;
    failed("forget-error", "");
    $("forget").showModal();
    $("forget-cancel").focus();
    try {
      const told = await ask("POST", "forget", { ...target, yes: false });
      $("forget-counts").textContent = `This deletes ${counted(told.would_delete)}, for good: a later replay does not bring it back.`;
      $("forget-yes").disabled = false;
    } catch (error) {
      $("forget-counts").textContent = "";
      failed("forget-error", error.message);
    }
  }

  async function forget() {
    $("forget-yes").disabled = true;
    try {
      const told = await ask("POST", "forget", { ...asking.target, remote: $("forget-remote").checked && !now.local, yes: true });
      $("forget").close();
      const problems = (told.problems || []).join(" ");
      toast(`Forgotten: ${counted(told.deleted)}.${problems ? ` ${problems}` : ""}`);
      for (const each of document.querySelectorAll("[data-memory]")) if (each.dataset.memory === asking.target.memory) each.remove();
      if (asking.target.session) await sessions();
    } catch (error) {
      failed("forget-error", error.message);
      $("forget-yes").disabled = false;
    }
  }

  async function askToPin(text) {
    failed("pin-error", "");
    $("pin-value").value = text;
    $("pin-key").value = text.toLowerCase().match(/[\p{L}\p{N}]+/gu)?.slice(0, 6).join("-").slice(0, 60) || "note";
    $("pin-namespace").value ||= "default";
    $("pin-yes").disabled = false;
    $("pin").showModal();
    $("pin-namespace").select();
    try {
      const told = await ask("GET", "namespaces");
      $("namespaces").replaceChildren(...told.namespaces.map((each) => el("option", { value: each.namespace })));
    } catch { /* they are only offered */ }
  }

  async function pin() {
    $("pin-yes").disabled = true;
    try {
      const told = await ask("POST", "pin", { namespace: $("pin-namespace").value, key: $("pin-key").value, value: $("pin-value").value });
      $("pin").close();
      toast(told.message);
    } catch (error) {
      failed("pin-error", error.message);
      $("pin-yes").disabled = false;
    }
  }

  // Jobs

  const STATES = [["", "All"], ["ready", "Ready"], ["waiting", "Waiting"], ["claimed", "Running"], ["dead", "Dead letters"], ["done", "Done"]];
  const JOB_TONES = { dead: "bad", waiting: "warn", done: "good" };

  function choices(place, list, chosen, choose) {
    place.replaceChildren(...list.map(([value, name]) => el("button", { type: "button", class: "small", "aria-pressed": String(value === chosen), on: () => choose(value) }, name)));
  }

  function chooseJobs(state) {
    now.jobs = state;
    choices($("job-states"), STATES, state, (value) => { chooseJobs(value); refresh(); });
  }

  async function jobs() {
    const state = now.jobs;
    const told = await ask("GET", `jobs?state=${encodeURIComponent(state)}`);
    if (state !== now.jobs) return;
    show($("jobs"), [told.jobs, now.up], () => (told.jobs.length ? [
      ...told.jobs.map(job),
      told.jobs.length >= told.limit ? el("p", { class: "soft" }, `The newest ${told.limit}; \`memsyncd jobs list\` knows more.`.replaceAll("`", "")) : "",
    ] : [el("p", { class: "empty" }, state === "dead" ? "No dead letters." : "No jobs.")]));
  }

  function job(each) {
    const act = (verb, name, tone) => el("button", { class: `small ${tone}`, disabled: !now.up, "data-key": `${verb} ${each.id}`, on: () => change(verb, each.id) }, name);
    const state = { claimed: "running", dead: "dead letter" }[each.state] || each.state;
    return el("details", { class: "card", "data-key": each.id },
      el("summary", { "data-key": `s ${each.id}` },
        el("span", { class: "title" }, each.kind, " ", el("span", { class: `tag ${JOB_TONES[each.state] || ""}` }, state)),
        el("span", { class: "right" }, ...(each.state === "waiting" && each.not_before ? ["due ", when(each.not_before)] : [])),
        each.reason ? el("span", { class: "under said" }, each.reason) : ""),
      el("div", { class: "inner" },
        el("dl", {}, ...[["Job", el("span", { class: "mono" }, each.id)], ["Lane", each.lane || "–"], ["Failed tries", each.attempts || 0], ["Crashes", each.crashes || 0]]
          .flatMap(([name, value]) => [el("dt", {}, name), el("dd", { class: "said" }, value)])),
        each.errors?.length ? el("ul", { class: "errors" }, ...each.errors.map((error) => el("li", { class: "said" }, when(error.at), ` · ${error.why}`))) : "",
        each.state === "dead" ? el("div", { class: "buttons" }, act("discard", "Discard", "danger"), act("retry", "Try again", "main"))
          : each.state === "waiting" ? el("div", { class: "buttons" }, act("retry", "Run now", "")) : ""));
  }

  async function change(verb, id) {
    try {
      const told = await ask("POST", verb, { id });
      toast(told.outcome === "already so" ? "That was so already." : verb === "retry" ? "It is tried again." : "Discarded.");
    } catch (error) {
      toast(error.message);
    }
    await refresh();
  }

  // Charts

  const SPANS = [[60, "1 hour"], [360, "6 hours"], [1440, "24 hours"]];
  const CHARTS = [
    { title: "What waits", unit: "", series: [["pending", "handoffs", "s1", "max"], ["queued", "jobs", "s2", "max"], ["open", "extractions", "s4", "max"]] },
    { title: "What was done", unit: "", sums: true, series: [["taken", "handoffs taken in", "s1", "sum"], ["delivered", "packets delivered", "s4", "sum"], ["refused", "packets refused", "s3", "sum"]] },
    { title: "How long it took", unit: "s", series: [["delivery_seconds", "a packet’s delivery", "s4", "max"], ["waited_seconds", "a job’s wait", "s2", "max"], ["run_seconds", "a job’s run", "s1", "max"]] },
    { title: "Recalls", unit: "ms", series: [["recall", "mean of a recall", "s1", "mean"]] },
  ];

  function chooseSpan(minutes) {
    now.span = minutes;
    choices($("ranges"), SPANS, minutes, (value) => { chooseSpan(value); refresh(); });
  }

  async function charts() {
    const minutes = now.span;
    const told = await ask("GET", `history?minutes=${minutes}`);
    if (minutes !== now.span) return;
    show($("charts"), [told.samples, minutes], () => (told.samples.length ? CHARTS.map((each) => chart(each, buckets(told, minutes))) : [
      el("p", { class: "empty" }, "Nothing yet: the first minute has to be over.")]));
  }

  function buckets(told, minutes) { // of equal length; one in which no daemon ran is empty
    const each = minutes <= 60 ? 1 : minutes / 120, last = Math.floor(Date.parse(told.at) / 60000), first = last - minutes;
    const made = Array.from({ length: Math.ceil(minutes / each) }, (_, at) => ({ at: (first + at * each) * 60000, minutes: each, samples: [] }));
    for (const sample of told.samples) {
      const place = Math.floor((Date.parse(sample.at) / 60000 - first) / each);
      made[Math.min(place, made.length - 1)]?.samples.push(sample);
    }
    return made;
  }

  function valueOf(bucket, [key, , , how]) {
    if (!bucket.samples.length) return null;
    if (how === "mean") {
      const calls = bucket.samples.reduce((sum, each) => sum + each.recalls, 0);
      return calls ? bucket.samples.reduce((sum, each) => sum + each.recall_milliseconds, 0) / calls : null;
    }
    const values = bucket.samples.map((each) => each[key] || 0);
    return how === "sum" ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
  }

  const WIDE = 480, HIGH = 190, LEFT = 40, TOP = 8, BOTTOM = 22;
  const clock = (at) => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const told = (value, unit) => (value === null ? "–" : `${value >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : value.toPrecision(2)}${unit ? ` ${unit}` : ""}`);

  function ceiling(most, whole) { // the least even number that holds it; of seconds also a fraction
    for (let power = whole ? 1 : 0.01; ; power *= 10) {
      for (const step of whole && power === 1 ? [2, 4, 6, 8] : [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8]) if (step * power >= most) return step * power;
    }
  }

  function chart(kind, list) {
    const lines = kind.series.map((series) => list.map((bucket) => valueOf(bucket, series)));
    const high = ceiling(Math.max(0, ...lines.flat().filter((value) => value !== null)), !kind.unit || kind.unit === "ms");
    const x = (at) => LEFT + ((WIDE - LEFT - 6) * (at + 0.5)) / list.length;
    const y = (value) => TOP + (HIGH - TOP - BOTTOM) * (1 - value / high);
    const drawing = shape("svg", { class: "chart", viewBox: `0 0 ${WIDE} ${HIGH}`, tabindex: 0, role: "img" });
    for (const part of [0, 0.5, 1]) {
      drawing.append(shape("line", { class: "grid", x1: LEFT, x2: WIDE - 6, y1: y(high * part), y2: y(high * part) }),
        shape("text", { x: LEFT - 6, y: y(high * part) + 4, "text-anchor": "end" }, told(high * part, "")));
    }
    for (const part of [0, 0.25, 0.5, 0.75]) {
      const at = Math.floor(list.length * part);
      drawing.append(shape("text", { x: x(at), y: HIGH - 6 }, clock(list[at].at)));
    }
    lines.forEach((values, at) => drawing.append(shape("g", { class: kind.series[at][2] }, ...curve(values, x, y))));
    const summary = `Most: ${kind.series.map(([, name], at) => `${name} ${told(most(lines[at]), kind.unit)}`).join(" · ")}`;
    drawing.setAttribute("aria-label", `${kind.title}. ${summary}. Left and right arrows read it.`);
    const reading = el("p", { class: "reading", "aria-live": "polite" }, summary);
    follow(drawing, reading, kind, list, lines, x);
    return el("figure", { class: "card" },
      el("figcaption", {}, el("strong", {}, kind.title, el("span", { class: "soft" }, kind.sums ? ` in ${span(list[0].minutes * 60)}` : { s: " in seconds", ms: " in milliseconds" }[kind.unit] || "")), el("span", { class: "legend" }, ...kind.series.map(([, name, tone]) => el("span", {}, el("i", { class: tone }), name)))),
      drawing, reading);
  }

  const most = (values) => values.reduce((found, value) => (value === null ? found : Math.max(found ?? value, value)), null);

  function curve(values, x, y) {
    const runs = [];
    values.forEach((value, at) => {
      if (value === null) return;
      if (at === 0 || values[at - 1] === null) runs.push([]);
      runs.at(-1).push([x(at).toFixed(1), y(value).toFixed(1)]);
    });
    return runs.flatMap((points) => {
      const line = points.length > 1 ? points.map(([left, top], at) => `${at ? "L" : "M"}${left} ${top}`).join("") : `M${points[0][0] - 1.5} ${points[0][1]}h3`;
      return [shape("path", { class: "area", d: `${line}L${points.at(-1)[0]} ${y(0)}L${points[0][0]} ${y(0)}Z` }), shape("path", { class: "line", d: line })];
    });
  }

  function follow(drawing, reading, kind, list, lines, x) {
    const cursor = shape("line", { class: "cursor", y1: TOP, y2: HIGH - BOTTOM, visibility: "hidden" });
    const before = reading.textContent;
    let place = list.length;
    drawing.append(cursor);
    const move = (at) => {
      place = Math.max(0, Math.min(list.length - 1, at));
      cursor.setAttribute("x1", x(place));
      cursor.setAttribute("x2", x(place));
      cursor.setAttribute("visibility", "visible");
      const values = kind.series.map(([, name], each) => `${name} ${told(lines[each][place], kind.unit)}`).join(" · ");
      reading.textContent = `${clock(list[place].at)} · ${list[place].samples.length ? values : "no daemon ran"}`;
    };
    const leave = () => { cursor.setAttribute("visibility", "hidden"); reading.textContent = before; place = list.length; };
    drawing.addEventListener("pointermove", (event) => {
      const box = drawing.getBoundingClientRect();
      move(Math.floor((((event.clientX - box.left) / box.width) * WIDE - LEFT) / ((WIDE - LEFT - 6) / list.length)));
    });
    drawing.addEventListener("pointerleave", leave);
    drawing.addEventListener("blur", leave);
    drawing.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) { event.preventDefault(); move(place + step); }
    });
  }

  // The page itself

  const DRAW = { overview: async () => {}, sessions, memories, jobs, charts };
  let timer = 0, lastDrawn = 0;

  async function refresh() {
    lastDrawn = Date.now();
    try {
      await overview();
      await DRAW[now.page]();
    } catch (error) {
      if (!now.ended) banner(error.message);
    }
  }

  function turn() {
    const wanted = location.hash.slice(1).split("/")[0];
    if (wanted === "main") return;
    now.page = PAGES.includes(wanted) ? wanted : "overview";
    for (const name of PAGES) $(`page-${name}`).hidden = name !== now.page;
    for (const link of document.querySelectorAll("nav a")) {
      if (link.dataset.page === now.page) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = `${document.querySelector(`nav a[data-page="${now.page}"]`).firstChild.textContent} · memsyncd`;
    if (!now.ended) refresh();
  }

  function tick() {
    for (const each of document.querySelectorAll("time[datetime]")) {
      const text = ago(each.getAttribute("datetime"));
      if (each.textContent !== text) each.textContent = text;
    }
    const isAttended = !document.hidden && Date.now() - now.touched < UNATTENDED;
    if (isAttended && !now.ended && Date.now() - lastDrawn >= EVERY[now.page] * 1000) refresh();
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
    if (event.key >= "1" && event.key <= "5") location.hash = PAGES[event.key - 1];
    if (event.key === "/") {
      event.preventDefault();
      if (now.page === "sessions") $("session-filter").focus();
      else { location.hash = "memories"; setTimeout(() => $("query").focus(), 0); }
    }
  }

  for (const name of CATEGORIES) $("category").append(el("option", { value: name }, name.replaceAll("_", " ")));
  chooseJobs("");
  chooseSpan(1440);
  $("search").addEventListener("submit", search);
  $("session-filter").addEventListener("input", drawSessions);
  $("forget-yes").addEventListener("click", forget);
  $("pin-form").addEventListener("submit", (event) => { event.preventDefault(); pin(); });
  for (const id of ["forget", "pin"]) $(`${id}-cancel`).addEventListener("click", () => $(id).close());
  for (const kind of ["pointermove", "keydown", "pointerdown", "scroll", "visibilitychange"]) document.addEventListener(kind, () => { now.touched = Date.now(); }, { passive: true });
  document.addEventListener("keydown", key);
  window.addEventListener("hashchange", turn);
  turn();
  timer = setInterval(tick, 1000);
  window.addEventListener("pagehide", () => clearInterval(timer));
})();
