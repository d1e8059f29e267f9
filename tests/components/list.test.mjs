// Which texts stand in columns.

import assert from "node:assert/strict";
import { test } from "node:test";

import { hasFreeLines, isList } from "../../bpeviz/components/shared/list.js";

const WORDS = "acordarme adarga antigua astillero corredor cuyo flaco galgo hidalgo lanza lugar mancha".split(" ");

test("twelve short lines are a list, and eleven are not", () => {
  assert.ok(isList(WORDS.join("\n")));
  assert.ok(isList(`${WORDS.join("\r\n")}\r\n\r\n`));
  assert.ok(!isList(WORDS.slice(1).join("\n")));
  assert.ok(!isList("") && !isList("a") && !isList("\n".repeat(20)));
});

test("half of the lines have at most twenty characters", () => {
  const long = "x".repeat(21);
  assert.ok(isList([...WORDS.slice(6), ...Array(6).fill(long)].join("\n")));
  assert.ok(!isList([...WORDS.slice(7), ...Array(7).fill(long)].join("\n")));
  assert.ok(isList(Array(12).fill("x".repeat(20)).join("\n")));
  assert.ok(isList(Array(12).fill("😀".repeat(20)).join("\n")), "characters, not units of UTF-16");
});

test("lists of words in any script, of names and of entries with marks of their own are lists", () => {
  for (const entries of [
    WORDS.map((word) => `- ${word}`),
    WORDS.map((word) => `${word},`),
    WORDS.map((word) => `${word}.`),
    WORDS.map((_, i) => String(1000 * i)),
    ["New York", "Los Angeles", "San José", "Chicago", "Houston", "St. Louis", "Boston", "El Paso", "Denver", "Austin", "Miami", "Reno"],
    ["नमस्ते", "दुनिया", "हिंदी", "पानी", "घर", "आग", "हवा", "मिट्टी", "आकाश", "नदी", "पेड़", "फूल"],
    ["水", "火", "木", "金", "土", "日", "月", "山", "川", "田", "人", "口"],
    ["مرحبا", "عالم", "كتاب", "قلم", "بيت", "باب", "شمس", "قمر", "ماء", "نار", "هواء", "أرض"],
    ["un-", "re-", "in-", "dis-", "en-", "non-", "over-", "mis-", "sub-", "pre-", "inter-", "fore-"],
  ])
    assert.ok(isList(entries.join("\n")), entries[0]);
});

test("a list has few blank lines, and none that begins with a space or a tab", () => {
  assert.ok(isList([...WORDS, "", ...WORDS].join("\n")));
  assert.ok(!isList([...WORDS.slice(6), "", ...WORDS.slice(6), "", ...WORDS.slice(6)].join("\n")));
  for (const indent of [" ", "\t"]) assert.ok(!isList([...WORDS, `${indent}last`].join("\n")));
});

const POEMS = {
  "Li Bai and Meng Haoran":
    "床前明月光，/疑是地上霜。/举头望明月，/低头思故乡。/春眠不觉晓，/处处闻啼鸟。/" +
    "夜来风雨声，/花落知多少。/白日依山尽，/黄河入海流。/欲穷千里目，/更上一层楼。",
  "without punctuation":
    "rain on the roof/all night long/it fell and fell/until the morning/we lay awake/and counted drops/" +
    "that ran along/the old glass/and nobody spoke/of the road/or of the house/we had to leave",
  "in stanzas of few words":
    "rain/on tin//all night/it fell//and we/awake//counted/drops//nobody/spoke//of roads/or home",
};

for (const [name, poem] of Object.entries(POEMS))
  test(`verse is no list: ${name}`, () => assert.ok(!isList(poem.replaceAll("/", "\n"))));

const numbered = (line) => Array.from({ length: 14 }, (_, i) => line(WORDS[i % 12], i)).join("\n");

test("tables and code are no lists, and their lines do not stand beside others", () => {
  const texts = [
    numbered((word, i) => `${word},${i}`),
    numbered((word, i) => `${word}, ${i}, yes`),
    numbered((word, i) => `${word};${i};`),
    numbered((word, i) => `${word}\t${i}`),
    numbered((word, i) => `| ${word} | ${i} |`),
    numbered((word, i) => `${word} ${100 * i}`),
    numbered((word, i) => `${word.padEnd(10)}  ${i % 2 ? "yes" : "no"}`),
    numbered((word, i) => `${word} = ${i}`),
    numbered((word) => `print(${word})`),
    numbered((word) => `<li>${word}</li>`),
    "for word in words:\n    print(word)\n".repeat(6),
    "{\n\"a\": 1\n}\n".repeat(6),
  ];
  for (const text of texts) assert.ok(!isList(text) && !hasFreeLines(text), text);
});

test("lines of verse and of short lists may stand beside others", () => {
  assert.ok(hasFreeLines("She sells seashells by the seashore.\nThe shells she sells are seashells, I'm sure."));
  assert.ok(hasFreeLines("apple\npear"));
  assert.ok(!hasFreeLines("one line"));
});
