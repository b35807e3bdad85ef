// memsyncd's OpenCode plugin: it leaves one handoff for each thing that happens, as the hooks of other agents do.
// `memsyncd hooks install --harness opencode` wrote it and `uninstall` takes it out; changes made here are lost.

import { spawn } from "node:child_process";

const LINES = {};
const LIMIT_MS = 5000; // of one hook; its own work takes milliseconds
const MAX_OUTPUT = 65536; // characters of a recall that are read
const MAX_REMEMBERED = 500; // calls and sessions in flight whose beginning is kept for their end

// Runs the line for an event with its JSON on standard input. Resolves to what it printed, "" if anything goes wrong.
function drop(name, input, cwd) {
  return new Promise((resolve) => {
    const line = LINES[name];
    if (!line) return resolve("");
    let output = "";
    let timer;
    const end = () => {
      clearTimeout(timer);
      resolve(output);
    };
    try {
      const child = spawn("/bin/sh", ["-c", line], { cwd, stdio: ["pipe", "pipe", "ignore"] });
      timer = setTimeout(() => {
        child.kill();
        end();
      }, LIMIT_MS);
      child.on("error", end);
      child.on("close", end);
      child.stdin.on("error", () => {});
      child.stdout.on("data", (data) => {
        if (output.length < MAX_OUTPUT) output += data;
      });
      child.stdin.end(JSON.stringify({ hook_event_name: name, cwd, ...input }));
    } catch {
      end();
    }
  });
}

function remember(map, key, value) {
  map.set(key, value);
  if (map.size > MAX_REMEMBERED) map.delete(map.keys().next().value);
}

function words(parts) {
  return (parts || [])
    .filter((part) => part && part.type === "text" && !part.synthetic && !part.ignored)
    .map((part) => part.text || "")
    .join("\n");
}

// What a hook prints is a recall: plain text, or JSON around it as Claude Code takes it.
function recalled(output) {
  try {
    return JSON.parse(output).hookSpecificOutput.additionalContext || "";
  } catch {
    return output.trim().startsWith("{") ? "" : output.trim();
  }
}

export const Memsyncd = async ({ client, directory, worktree }) => {
  const cwd = directory || worktree || process.cwd();
  const parents = new Map(); // a subagent's session -> its parent's
  const asked = new Map(); // a tool call -> its arguments
  const recalls = new Map(); // a session -> what was recalled for its last prompt

  function call(sessionID, tool, args, callID) {
    const told = { session_id: sessionID, tool_name: tool, tool_input: args || {}, tool_use_id: callID || "" };
    const parent = parents.get(sessionID);
    return parent ? { ...told, session_id: parent, agent_id: sessionID } : told;
  }

  async function answer(sessionID) {
    const reply = await client.session.messages({ path: { id: sessionID } });
    const messages = (reply && reply.data) || reply || [];
    const last = messages.filter((message) => message.info && message.info.role === "assistant").pop();
    return last ? { id: last.info.id, text: words(last.parts) } : { id: "", text: "" };
  }

  async function stopped(sessionID) {
    const last = await answer(sessionID);
    await drop("session.idle", { session_id: sessionID, prompt_id: last.id, last_assistant_message: last.text }, cwd);
  }

  const listeners = {
    "session.created": ({ info }) => {
      if (info.parentID) return remember(parents, info.id, info.parentID);
      return drop("session.created", { session_id: info.id, source: "startup" }, info.directory || cwd);
    },
    // a tool that failed: what succeeded comes by "tool.execute.after"
    "message.part.updated": ({ part }) => {
      if (!part || part.type !== "tool" || !part.state || part.state.status !== "error") return undefined;
      asked.delete(part.callID);
      const told = { ...call(part.sessionID, part.tool, part.state.input, part.callID), error: part.state.error };
      return drop("message.part.updated", told, cwd);
    },
    "session.idle": ({ sessionID }) => (parents.has(sessionID) ? undefined : stopped(sessionID)),
    "session.deleted": ({ info }) => {
      if (info.parentID || parents.has(info.id)) return undefined;
      return drop("session.deleted", { session_id: info.id, reason: "deleted" }, info.directory || cwd);
    },
  };

  // Nothing here may fail or keep OpenCode waiting: only a prompt is waited for, for what is recalled for it.
  return {
    event: async ({ event }) => {
      const listener = event && listeners[event.type];
      if (!listener) return;
      Promise.resolve()
        .then(() => listener(event.properties || {}))
        .catch(() => {});
    },
    "chat.message": async (input, output) => {
      try {
        const session = input.sessionID;
        const prompt = words(output && output.parts);
        if (parents.has(session) || !prompt.trim()) return;
        const id = input.messageID || (output.message && output.message.id) || "";
        remember(recalls, session, recalled(await drop("chat.message", { session_id: session, prompt_id: id, prompt }, cwd)));
      } catch {}
    },
    "experimental.chat.system.transform": async (input, output) => {
      const recall = input && recalls.get(input.sessionID);
      if (recall && output && Array.isArray(output.system)) output.system.push(recall);
    },
    "tool.execute.before": async (input, output) => {
      if (input && input.callID) remember(asked, input.callID, output && output.args);
    },
    "tool.execute.after": async (input, output) => {
      try {
        const args = input.args || asked.get(input.callID) || {};
        asked.delete(input.callID);
        const { output: text, metadata } = output || {};
        const response = metadata && typeof metadata.exit === "number" ? { output: text, exit_code: metadata.exit } : text;
        drop("tool.execute.after", { ...call(input.sessionID, input.tool, args, input.callID), tool_response: response }, cwd);
      } catch {}
    },
    "experimental.session.compacting": async (input) => {
      drop("experimental.session.compacting", { session_id: input && input.sessionID, trigger: "auto" }, cwd);
    },
  };
};
