// Talks to `dream mcp` over stdio with the official npm client: lists what there is, searches, appends, reads.
import assert from "node:assert/strict";
import { mkdtempSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [dream] = process.argv.slice(2);
const workspace = mkdtempSync(join(tmpdir(), "dream-npm-"));
mkdirSync(join(workspace, "memory"));
writeFileSync(join(workspace, "memory/2026-03-02.md"), "- Garage panel takes a CR2450 cell\n");
writeFileSync(join(workspace, "MEMORY.md"), "# Mine\n\n- Piano is tuned in October\n");

const transport = new StdioClientTransport({ command: dream, args: ["mcp", "--workspace", workspace] });
const client = new Client({ name: "npm-client-check", version: "1.0.0" });
await client.connect(transport);

const names = (await client.listTools()).tools.map((tool) => tool.name).sort();
assert.deepEqual(names, ["diary_append", "memory_explain", "memory_get", "memory_search", "memory_status"]);
const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name).sort();
assert.deepEqual(prompts, ["memory_flush", "memory_recall"]);

const found = await client.callTool({ name: "memory_search", arguments: { query: "garage cell" } });
assert.equal(found.structuredContent.results[0].text, "Garage panel takes a CR2450 cell");
assert.equal(found.structuredContent.results[0].recorded, true);

assert.deepEqual(found.structuredContent.problems, []);

const misspelt = await client.callTool({ name: "memory_search", arguments: { query: "garage", max: 3 } });
assert.equal(misspelt.isError, true);
assert.match(misspelt.content[0].text, /^max: there is no such argument; known are query, limit/);

const kept = await client.callTool({ name: "memory_get", arguments: { place: "MEMORY.md:3" } });
assert.equal(kept.structuredContent.text, "- Piano is tuned in October");

const outside = await client.callTool({ name: "memory_get", arguments: { place: "../../etc/passwd" } });
assert.equal(outside.isError, true);

await client.callTool({ name: "diary_append", arguments: { text: "- Boat is called Kestrel" } });
const today = readdirSync(join(workspace, "memory")).find((name) => /^\d{4}-\d{2}-\d{2}\.md$/.test(name) && name !== "2026-03-02.md");
assert.match(readFileSync(join(workspace, "memory", today), "utf8"), /Boat is called Kestrel/);

await client.close();
console.log("the npm client is served");
