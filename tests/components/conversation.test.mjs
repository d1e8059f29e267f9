// The messages of a conversation, and the lines in which a model reads them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { conversationIn, conversationOf, following, inJson, moved, rolesOf, textOf } from "../../bpeviz/components/messages/conversation.js";
import { cellsOf } from "../../bpeviz/components/strip/strip.js";

const user = { role: "user", content: "Hi" };

test("a conversation is a list of messages, or an object with one; what is around them stays", () => {
  for (const text of ["", "Hi", "[]", "[1]", "null", '{"messages":7}', '[{"content":"x"}]', '{"role":"user"}']) {
    assert.equal(conversationIn(text), null);
    assert.deepEqual(conversationOf(text), { messages: [{ role: "user", content: text }], around: null });
  }
  for (const text of ['[{"role":"user","content":"Hi"}]', '{"messages":[{"role":"user","content":"Hi"}],"tools":[1]}'])
    assert.equal(inJson(conversationOf(text)), text);
  assert.deepEqual(conversationIn('[{"role":"user","content":"Hi"}]').messages, [user]);
});

test("a message moves inside the list, and roles take turns", () => {
  const all = ["a", "b", "c"];
  assert.deepEqual([moved(all, 0, 1), moved(all, 2, -1), moved(all, 0, -1), all], [["b", "a", "c"], ["a", "c", "b"], all, all]);
  assert.deepEqual([undefined, user, { role: "tool" }].map((message) => following(message).role), ["user", "assistant", "user"]);
  assert.deepEqual(rolesOf([user, { role: "tool" }]), ["system", "user", "assistant", "tool"]);
});

test("only text can be edited", () => {
  assert.deepEqual([user, { role: "user" }, { role: "user", content: [1] }, { role: "assistant", content: null, tool_calls: [] }].map(textOf), ["Hi", "", null, null]);
});

test("each message has a line, the template’s line breaks stay in it, and words from right to left have their own", () => {
  const [words, control, learned] = [1, 2, 4];
  const text = "<s>user\na\nb</s><s>bot\nשלום😀</s>";
  const parts = [["<s>", control], ["user\n", 0], ["a\n", words], ["b", words], ["</s>", control], ["<s>", control], ["bot\n", 0], ["שלום", words | learned], ["😀", words | learned], ["</s>", control | learned]];
  let end = 0;
  const tokens = parts.map(([part, kind]) => [(end += [...part].length), 0, part, 0, kind]);
  const lines = [];
  for (const { line, text: sign } of cellsOf({ title: "", note: "", text, tokens, speakers: [[0, "user", "", false], [15, "bot", "", false]] })) lines[line] = (lines[line] ?? "") + sign;
  assert.deepEqual(lines, ["<s>user↵a↵", "b</s>", "<s>bot↵", "שלום😀", "</s>"]);
  const looks = (speakers) => new Set(cellsOf({ title: "", note: "", text, tokens, speakers }).map(({ look }) => look));
  assert.deepEqual([...looks([])], [" of-template control", " of-template", " words", " words learned", " of-template control learned"]);
});
