// Draws the page from the data that stand in it. Python has counted and worded everything; here are
// places on the screen, and what happens when somebody points at something.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const WARP = 32, SECTOR = 32, LINE = 128, BANKS = 32, WORD = 4;
const MOST_ROWS = 48; // of an array in shared memory, that are drawn
const KEYWORDS = new RegExp(
  "\\b(?:alignas|auto|bool|break|case|char|class|const|constexpr|continue|default|do|double|else|enum|extern|" +
  "false|float|for|if|inline|int|long|namespace|nullptr|return|short|signed|sizeof|static|static_cast|struct|" +
  "switch|template|true|typename|unsigned|using|void|volatile|while|reinterpret_cast|__\\w+__)\\b");
const TOKENS = new RegExp(`(//.*|/\\*.*?\\*/)|("(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*')|(${KEYWORDS.source})`, "g");

const byId = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en-US");
const state = { kernel: data.first, order: "source", open: -1, access: 0, sample: 0, step: 0 };
const kernel = () => data.kernels[state.kernel];

// ---- elements

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== undefined) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const rect = (look, x, y, width, height, more = {}) => shape("rect", { class: look, x, y, width, height, ...more });
const words = (look, x, y, text, anchor = "start") =>
  shape("text", { class: look, x, y, "text-anchor": anchor }, String(text));

function select(id, names, chosen, change) {
  const made = byId(id);
  made.replaceChildren(...names.map((name, i) => element("option", { value: i, selected: i === chosen }, name)));
  made.onchange = () => change(Number(made.value));
}

// ---- sentences

function sentence(said) {
  return [said.text, ...linked(" The remedy: ", said.link)];
}

function linked(lead, link) {
  if (!link) return [];
  const name = link.to ? element("a", { href: link.to }, link.name) : element("b", {}, link.name);
  return [lead, element("span", { class: "remedy" }, name, " (", element("code", {}, link.command), ").")];
}

const lineButton = (index) =>
  element("button", { type: "button", onclick: () => goTo(index) }, `line ${kernel().lines[index].line}`);

function finding({ name, line, where, code, text, remedy, link }) {
  const place = line !== undefined ? [": ", lineButton(line)] : where ? [`: ${where}`] : [];
  const quote = code ? [element("p", { class: "quote" }, element("code", {}, code))] : [];
  return element("li", { class: "note" }, element("p", {}, element("b", {}, name), ...place), ...quote, element("p", {}, text),
    element("p", {}, `→ ${remedy}`, ...linked(" See ", link)));
}

const badFirst = (said) => [...said].sort((a, b) => Boolean(b.bad) - Boolean(a.bad));

function explain(index) {
  const box = byId("explanation");
  if (index < 0 || index === state.open) {
    box.replaceChildren();
    return;
  }
  const line = kernel().lines[index];
  const shown = badFirst(line.says).slice(0, 2);
  const parts = shown.flatMap((said) => [" ", ...sentence(said)]);
  box.replaceChildren(element("p", {}, element("b", {}, `Line ${line.line}:`), ...parts));
}

// ---- the source

function coloured(text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(TOKENS)) {
    parts.push(text.slice(end, found.index));
    const look = found[1] ? "comment" : found[2] ? "text" : "word";
    parts.push(element("span", { class: look }, found[0]));
    end = found.index + found[0].length;
  }
  return [...parts, text.slice(end)].filter((part) => part !== "");
}

function countCell(cell, title) {
  if (!cell) return element("td", { class: "count", role: "cell" });
  const bar = element("span", { class: "bar", "aria-hidden": "true" },
    element("i", { class: "good", style: `width:${100 * cell[1]}%` }),
    element("i", { class: "bad", style: `width:${100 * cell[2]}%` }));
  return element("td", { class: "count", role: "cell", "data-title": title },
    element("span", { class: "count-in" }, element("span", {}, cell[0]), bar));
}

function sourceRow(file, number, index) {
  const text = data.files[file].lines[number - 1] ?? "";
  const code = element("td", { class: "code", role: "cell" }, ...coloured(text));
  const { columns, lines, worst, findings } = kernel();
  if (index === undefined) {
    const empty = columns.map(() => element("td", { class: "count", role: "cell" }));
    return element("tr", { role: "row" }, element("th", { scope: "row", role: "rowheader" }, String(number)), code, ...empty);
  }
  const line = lines[index];
  const isFound = findings.some((each) => each.line === index);
  const about = isFound ? ", named above" : index === worst ? ", the worst" : "";
  const button = element("button", { type: "button", "data-line": index, "aria-expanded": "false",
    "aria-label": `line ${number}${about}` }, String(number));
  const look = `counted${about ? " worst" : ""}`;
  return element("tr", {
    class: look, role: "row", "data-row": index,
    onclick: () => open(index),
    onmouseenter: () => explain(index),
    onfocusin: () => explain(index),
  }, element("th", { scope: "row", role: "rowheader" }, button), code,
  ...columns.map((column, i) => countCell(line.cells[i], column.title)));
}

function headRow() {
  const heads = kernel().columns.map((column) =>
    element("th", { scope: "col", class: "count", role: "columnheader", title: column.about }, column.title));
  return element("thead", {}, element("tr", { role: "row" },
    element("th", { scope: "col", class: "number", role: "columnheader" }, "line"),
    element("th", { scope: "col", role: "columnheader" }, "source"), ...heads));
}

const spanning = () => ({ colspan: 2 + kernel().columns.length });
const fileRow = (file) => element("tr", { class: "file", role: "row" },
  element("th", { ...spanning(), scope: "rowgroup", role: "cell" }, data.files[file].name));

function foldRow(file, first, last) {
  const row = element("tr", { class: "fold", role: "row" });
  const show = () => {
    const rows = [];
    for (let n = first; n <= last; ++n) rows.push(sourceRow(file, n));
    row.replaceWith(...rows);
  };
  const name = first === last ? `line ${first}` : `lines ${first} to ${last}`;
  row.append(element("th", { ...spanning(), role: "cell" },
    element("button", { type: "button", onclick: show }, `show ${name}`)));
  return row;
}

function rowsInOrder(part, isOwn) {
  const indices = new Map(kernel().lines.map((line, i) => [line, i])
    .filter(([line]) => line.file === part.file).map(([line, i]) => [line.line, i]));
  const rows = [];
  let next = 1;
  const length = data.files[part.file].lines.length;
  for (const [first, last] of part.ranges) {
    if (isOwn && first > next) rows.push(foldRow(part.file, next, first - 1));
    else if (!isOwn && next > 1) rows.push(element("tr", { class: "file", role: "row" }, element("th", spanning(), "⋯")));
    for (let n = first; n <= Math.min(last, length); ++n) rows.push(sourceRow(part.file, n, indices.get(n)));
    next = last + 1;
  }
  if (isOwn && next <= length) rows.push(foldRow(part.file, next, length));
  return rows;
}

function sortedLines() {
  const { lines, worst } = kernel();
  const column = Number(state.order);
  const value = (i) => Number.isNaN(column) ? (i === worst ? Infinity : lines[i].cost) : lines[i].cells[column]?.[3] ?? -1;
  const all = lines.map((_, i) => i).filter((i) => lines[i].says.length);
  return all.sort((a, b) => value(b) - value(a) || a - b);
}

function drawSource() {
  const bodies = [];
  if (state.order === "source") {
    const several = kernel().parts.length > 1;
    kernel().parts.forEach((part, i) => {
      const head = several || i > 0 ? [fileRow(part.file)] : [];
      bodies.push(element("tbody", {}, ...head, ...rowsInOrder(part, i === 0)));
    });
  } else {
    const rows = sortedLines().map((i) => sourceRow(kernel().lines[i].file, kernel().lines[i].line, i));
    bodies.push(element("tbody", {}, ...rows));
  }
  const table = byId("listing");
  table.setAttribute("role", "table");
  table.setAttribute("aria-labelledby", "source-title");
  table.replaceChildren(headRow(), ...bodies);
  drawDetail();
}

// ---- the detail of a line

function open(index) {
  const closes = state.open === index;
  Object.assign(state, { open: closes ? -1 : index, access: 0, sample: 0, step: 0 });
  drawDetail();
}

function drawDetail() {
  for (const row of document.querySelectorAll("tr.detail")) row.remove();
  for (const row of document.querySelectorAll("tr.open")) row.classList.remove("open");
  for (const button of document.querySelectorAll("[data-line]")) button.setAttribute("aria-expanded", "false");
  const row = document.querySelector(`[data-row="${state.open}"]`);
  if (!row) return;
  row.classList.add("open");
  row.querySelector("button").setAttribute("aria-expanded", "true");
  const line = kernel().lines[state.open];
  const list = element("ul", {}, ...badFirst(line.says).map((said) =>
    element("li", { class: said.bad ? "bad" : "" }, ...sentence(said))));
  const panel = element("div", { class: "panel" }, list);
  row.after(element("tr", { class: "detail", role: "row" }, element("td", { ...spanning(), role: "cell" }, panel)));
  if (line.accesses.length) {
    const map = element("div", { class: "map", id: "map", tabindex: 0, role: "group", "aria-label": "access map", onkeydown: onMapKey });
    panel.append(map);
    drawMap();
  }
}

// The steps of a sample that execute an access.
const stepsOf = (sample, access) => sample.steps.filter((step) => step[2] === access);

function chosen() {
  const accesses = kernel().lines[state.open].accesses;
  const access = accesses[Math.min(state.access, accesses.length - 1)];
  const samples = kernel().samples.filter((sample) => stepsOf(sample, access).length);
  const sample = samples[Math.min(state.sample, samples.length - 1)];
  const steps = sample ? stepsOf(sample, access) : [];
  const number = Math.min(state.step, Math.max(0, steps.length - 1));
  return { accesses, access, samples, sample, steps, number, step: steps[number] };
}

const nameOfSample = (sample) => `block (${sample.block.join(", ")}), warp ${sample.warp}`;

function onMapKey(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by || event.target.tagName === "SELECT") return;
  event.preventDefault();
  stepBy(by);
}

function stepBy(by) {
  const { steps, number } = chosen();
  state.step = Math.max(0, Math.min(steps.length - 1, number + by));
  drawMap();
}

function drawMap() {
  const map = byId("map");
  const focused = document.activeElement?.dataset?.role;
  const { accesses, access, samples, sample, steps, number, step } = chosen();
  const choices = element("div", { class: "choices" });
  if (accesses.length > 1) {
    choices.append(element("span", { class: "group", role: "group", "aria-label": "access" }, ...accesses.map((each, i) =>
      element("button", { type: "button", "data-role": `access${i}`, "aria-pressed": String(each === access),
        onclick: () => { Object.assign(state, { access: i, step: 0 }); drawMap(); } }, kernel().accesses[each].title))));
  }
  map.replaceChildren(choices);
  if (!step) {
    map.append(element("p", { class: "soft" }, "No sampled warp executed this access."));
    return;
  }
  const warps = element("select", { "aria-label": "block and warp", "data-role": "warp",
    onchange: (event) => { Object.assign(state, { sample: Number(event.target.value), step: 0 }); drawMap(); } },
  ...samples.map((each, i) => element("option", { value: i, selected: each === sample }, nameOfSample(each))));
  const button = (name, label, by, off) => element("button", { type: "button", "aria-label": label, "data-role": label, disabled: off,
    onclick: () => stepBy(by) }, name);
  choices.append(element("span", { class: "group" }, warps), element("span", { class: "group" },
    button("←", "previous execution", -1, number === 0),
    element("span", { class: "step", id: "step" }, `execution ${number + 1} of ${steps.length}`),
    button("→", "next execution", 1, number === steps.length - 1)));
  const memory = kernel().memories[step[3]];
  const access_ = kernel().accesses[access];
  const draw = { shared: sharedMap, constant: constantMap }[access_.space] ?? globalMap;
  map.append(...draw(map.clientWidth, step, access_, memory));
  map.append(table(step, access_, memory));
  if (focused) (map.querySelector(`[data-role="${focused}"]:not(:disabled)`) ?? map).focus();
}

// ---- what a step touches

function elementsOf(step) {
  const bits = parseInt(step[1], 16);
  const lanes = [...Array(WARP).keys()].filter((lane) => bits / 2 ** lane & 1);
  if (typeof step[4] !== "string") return lanes.map((lane, i) => ({ lane, offset: step[4][i] }));
  const [first, distance] = step[4].split(":").map(Number);
  return lanes.map((lane, i) => ({ lane, offset: first + distance * i }));
}

// Lanes by what they want: [[key, [lane, ...]], ...] in the order of the keys.
function grouped(items) {
  const groups = new Map();
  for (const [key, lane] of items) groups.set(key, [...(groups.get(key) ?? []), lane]);
  return [...groups].sort((a, b) => a[0] - b[0]);
}

function ranges(lanes) {
  if (lanes.length === 1) return String(lanes[0]);
  const isRow = lanes.at(-1) - lanes[0] === lanes.length - 1;
  return isRow ? `${lanes[0]}–${lanes.at(-1)}` : `${lanes.length}×`;
}

const indexed = (memory, offset, size) => `${memory.name}[${count(Math.floor(offset / size))}]`;
const plural = (number, unit) => `${count(number)} ${unit}${number === 1 ? "" : unit.endsWith("s") ? "es" : "s"}`;

const wanting = (lanes) => `${plural(lanes, "lane")} ${lanes === 1 ? "wants" : "want"}`;

function table(step, access, memory) {
  const rows = elementsOf(step).map(({ lane, offset }) => element("tr", {}, element("th", { scope: "row" }, String(lane)),
    element("td", {}, indexed(memory, offset, access.size)), element("td", {}, count(offset))));
  const head = element("tr", {}, ...["lane", "element", "byte"].map((name) => element("th", { scope: "col" }, name)));
  return element("details", {}, element("summary", {}, "Addresses as a table"),
    element("table", { class: "addresses" }, element("thead", {}, head), element("tbody", {}, ...rows)));
}

// ---- drawings; a lane is as wide as a word of four bytes

function frame(width) {
  const label = width > 800 ? 118 : width > 560 ? 84 : 64;
  const lane = Math.max(7, Math.min(26, Math.floor((width - label - 2) / WARP)));
  return { label, lane, width: label + WARP * lane + 2 };
}

function drawing(size, height, label, parts) {
  const hatch = shape("pattern", { id: "wasted", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(-45)" },
    rect("", 0, 0, 5, 5), shape("path", { d: "M0 0V5" }));
  const made = shape("svg", { width: size.width, height, viewBox: `0 0 ${size.width} ${height}`, role: "img", "aria-label": label },
    shape("defs", {}, hatch), ...parts);
  const mark = (lanes) => {
    for (const each of made.querySelectorAll("[data-lanes]")) {
      const has = each.dataset.lanes.split(" ").some((lane) => lanes.includes(lane));
      each.classList.toggle("marked", has);
    }
  };
  made.addEventListener("mouseover", (event) => mark(event.target.dataset?.lanes?.split(" ") ?? []));
  made.addEventListener("mouseleave", () => mark([]));
  return made;
}

function numbers(size, y, name, isOn, look = "used") {
  const parts = [], texts = [words("faint", 0, y + 12, name)];
  const each = size.lane >= 15 ? 1 : size.lane >= 10 ? 4 : 8;
  for (let i = 0; i < WARP; ++i) {
    const x = size.label + i * size.lane;
    if (look) parts.push(rect(isOn(i) ? look : "idle", x, y, size.lane, 16, isOn(i) ? { "data-lanes": i } : {}));
    if (i % each === 0) texts.push(words(look && isOn(i) ? "small on" : "small faint", x + size.lane / 2, y + 12, i, "middle"));
  }
  return [...parts, ...texts];
}

function cell(size, look, x, y, height, width, lanes) {
  const parts = [rect(look, x, y, width, height, { "data-lanes": lanes.join(" ") })];
  const text = ranges(lanes);
  if (text.length * 6 + 2 <= width && height >= 12) parts.push(words("small on", x + width / 2, y + height / 2 + 4, text, "middle"));
  return parts;
}

// Cache lines of 128 bytes from the top, each with its four sectors.
function globalMap(width, step, access, memory) {
  const size = frame(width), byte = size.lane / WORD, height = 18;
  const wanted = elementsOf(step);
  const isActive = new Set(wanted.map(({ lane }) => lane));
  const parts = numbers(size, 0, "lane", (lane) => isActive.has(lane));
  const used = new Set();
  for (const { offset } of wanted) for (let at = offset; at < offset + access.size; ++at) used.add(at);
  const sectors = new Set([...used].map((at) => Math.floor(at / SECTOR)));
  const lines = [...new Set([...sectors].map((sector) => Math.floor(sector * SECTOR / LINE)))].sort((a, b) => a - b);
  const groups = grouped(wanted.map(({ lane, offset }) => [offset, lane]));
  let y = 34;
  parts.push(words("faint", 0, 31, size.lane > 12 ? "cache line from" : "line from"));
  lines.forEach((line, i) => {
    y += i === 0 ? 4 : line === lines[i - 1] + 1 ? height + 2 : height + 6;
    parts.push(words("small", 0, y + 13, indexed(memory, line * LINE, access.size)));
    for (let k = 0; k < LINE / SECTOR; ++k) {
      const look = sectors.has(line * LINE / SECTOR + k) ? "wasted" : "empty";
      parts.push(rect(look, size.label + k * SECTOR * byte, y, SECTOR * byte, height));
    }
    for (const [offset, lanes] of groups) {
      const from = Math.max(offset, line * LINE), to = Math.min(offset + access.size, (line + 1) * LINE);
      if (from < to) parts.push(...cell(size, "used", size.label + (from - line * LINE) * byte, y, height, (to - from) * byte, lanes));
    }
  });
  const moved = sectors.size * SECTOR, waste = moved - used.size;
  const least = Math.ceil(used.size / SECTOR);
  let text = `${wanting(isActive.size)} ${plural(used.size, "byte")}, which lie in ${plural(sectors.size, "sector")} of ` +
    `${plural(lines.length, "cache line")}. `;
  if (waste === 0) text += "All bytes of these sectors are used.";
  else if (sectors.size > least) text += `${count(waste)} of ${plural(moved, "byte")} are moved in vain (hatched); ${plural(least, "sector")} would do.`;
  else text += "Fewer sectors would not do; the hatched rest of them is moved, too.";
  const most = Math.max(...groups.map(([, lanes]) => lanes.length));
  if (access.kind === "atomic" && most > 1) text += ` ${most} lanes want the same address: they take turns.`;
  if (access.kind === "copy") text += " What the copy writes to shared memory is not drawn.";
  return [element("figure", {}, element("figcaption", {}, text), drawing(size, y + height + 4, text, parts))];
}

// The constant cache delivers one address after the other: a row for each.
function constantMap(width, step, access, memory) {
  const size = frame(width), height = 16;
  const wanted = elementsOf(step);
  const isActive = new Set(wanted.map(({ lane }) => lane));
  const groups = grouped(wanted.map(({ lane, offset }) => [offset, lane]));
  const parts = numbers(size, 0, "lane", (lane) => isActive.has(lane));
  groups.forEach(([offset, lanes], i) => {
    const y = 22 + i * (height + 1);
    parts.push(words("small", 0, y + 12, indexed(memory, offset, access.size)), rect("empty", size.label, y, WARP * size.lane, height));
    for (const lane of lanes) parts.push(rect(i ? "more" : "used", size.label + lane * size.lane, y, size.lane, height, { "data-lanes": lane }));
  });
  const text = `${wanting(isActive.size)} ${plural(groups.length, "different address")} ` +
    `of constant memory: ${plural(groups.length, "pass")}${groups.length > 1 ? ", where 1 would do for one address." : ", the least possible."}`;
  return [element("figure", {}, element("figcaption", {}, text), drawing(size, 24 + groups.length * (height + 1), text, parts))];
}

// Left the wavefronts, each a row; right the array as it lies in the banks.
function sharedMap(width, step, access, memory) {
  const beside = window.innerWidth >= 1088;
  const size = frame(beside ? width / 2 - 16 : width);
  const wanted = elementsOf(step);
  const lanesOf = new Map(grouped(wanted.flatMap(({ lane, offset }) => {
    const first = Math.floor((offset + memory.shift) / WORD), last = Math.floor((offset + memory.shift + access.size - 1) / WORD);
    return [...Array(last - first + 1).keys()].map((k) => [first + k, lane]);
  })));
  return [element("div", { class: "pair" },
    wavefronts(size, step, access, wanted, lanesOf), banks(size, step, access, memory, lanesOf))];
}

function wavefronts(size, step, access, wanted, lanesOf) {
  const height = 16, passes = step[5];
  const isActive = new Set(wanted.map(({ lane }) => lane));
  const least = Math.max(1, Math.ceil(lanesOf.size / BANKS));
  const parts = [...numbers(size, 0, "lane", (lane) => isActive.has(lane)), ...numbers(size, 24, "bank", () => false, "")];
  passes.forEach((delivered, i) => {
    const y = 46 + i * (height + 1);
    parts.push(words("small", 0, y + 12, size.label > 80 ? `wavefront ${i + 1}` : `${i + 1}`));
    parts.push(rect("empty", size.label, y, WARP * size.lane, height));
    for (const word of delivered) {
      const x = size.label + (word % BANKS) * size.lane;
      parts.push(...cell(size, i < least ? "used" : "more", x, y, height, size.lane, lanesOf.get(word) ?? []));
    }
  });
  const most = Math.max(...[...lanesOf.values()].map((lanes) => lanes.length));
  const text = `${wanting(isActive.size)} ${plural(lanesOf.size, "word")}, in ${plural(passes.length, "wavefront")}` +
    (passes.length > least ? `; ${least} would do if all words were in different banks.` : ", the least possible.") +
    (most > 1 ? ` One word serves up to ${most} lanes.` : "");
  return element("figure", {}, element("h3", {}, "Wavefronts"), element("figcaption", {}, text),
    drawing(size, 48 + passes.length * (height + 1), text, parts));
}

function banks(size, step, access, memory, lanesOf) {
  const height = 13;
  const meeting = Array(BANKS).fill(0);
  for (const word of lanesOf.keys()) ++meeting[word % BANKS];
  const begin = Math.floor(memory.shift / WORD), end = Math.ceil((memory.shift + memory.size) / WORD);
  const touched = [...new Set([...lanesOf.keys()].map((word) => Math.floor(word / BANKS)))].sort((a, b) => a - b);
  let rows = [];
  for (let row = Math.floor(begin / BANKS); row * BANKS < end && rows.length <= MOST_ROWS; ++row) rows.push(row);
  if (rows.length > MOST_ROWS) rows = touched;
  const parts = numbers(size, 0, "bank", () => false, "");
  let y = 18;
  rows.forEach((row, i) => {
    y += i > 0 && row !== rows[i - 1] + 1 ? height + 4 : i > 0 ? height : 4;
    const first = Math.max(begin, row * BANKS), last = Math.min(end, (row + 1) * BANKS);
    if (i % 4 === 0 || rows.length < 9) {
      parts.push(words("small", 0, y + 11, indexed(memory, first * WORD - memory.shift, access.size)));
    }
    parts.push(rect("empty", size.label + (first % BANKS) * size.lane, y, (last - first) * size.lane, height));
    for (let word = first; word < last; ++word) {
      const lanes = lanesOf.get(word);
      if (!lanes) continue;
      const conflict = meeting[word % BANKS] > 1;
      const strength = conflict ? 0.35 + 0.65 * meeting[word % BANKS] / BANKS : 1;
      parts.push(...cell(size, conflict ? "more" : "used", size.label + (word % BANKS) * size.lane, y, height, size.lane, lanes));
      if (conflict) parts.find((part) => part.dataset?.lanes === lanes.join(" ") && part.getAttribute("y") === String(y))
        .setAttribute("fill-opacity", strength.toFixed(2));
    }
  });
  const worst = Math.max(...meeting), used = meeting.filter((words) => words > 0).length;
  const text = `${memory.name}, 32 words to a row: this access wants words of ${plural(used, "bank")}` +
    (worst > 1 ? `, and up to ${worst} different words of one bank.` : ", one word of each.");
  return element("figure", {}, element("h3", {}, "Banks of the array"), element("figcaption", {}, text),
    drawing(size, y + height + 4, text, parts));
}

// ---- the divergence map

function runs(lanes) {
  const bits = parseInt(lanes, 16), found = [];
  for (let lane = 0; lane < WARP; ++lane) {
    if (!(bits / 2 ** lane & 1)) continue;
    const last = found.at(-1);
    if (last && last.end === lane) ++last.end;
    else found.push({ begin: lane, end: lane + 1 });
  }
  return found;
}

// What a warp came to; the same line with the same lanes several times in a row is one way.
function waysOf(sample) {
  const ways = [];
  for (const [line, lanes, access] of sample.steps) {
    if (access !== undefined) continue;
    const last = ways.at(-1);
    if (last && last.line === line && last.lanes === lanes) ++last.times;
    else ways.push({ line, lanes, times: 1 });
  }
  return ways;
}

function wayRow({ line, lanes, times }) {
  const { file, line: number } = kernel().lines[line];
  const found = runs(lanes);
  const isOwn = file === kernel().parts[0].file;
  const named = isOwn ? [] : [element("span", { class: "comment" }, `${data.files[file].name.split("/").at(-1)}: `)];
  const active = found.reduce((sum, run) => sum + run.end - run.begin, 0);
  const picture = shape("svg", { viewBox: "0 0 32 1", preserveAspectRatio: "none", role: "img", "aria-label": `${active} of 32 lanes` },
    ...found.map((run) => rect("", run.begin, 0, run.end - run.begin, 1)),
    shape("path", { d: [...Array(WARP - 1).keys()].map((i) => `M${i + 1} 0V1`).join("") }));
  return element("div", { class: "way", role: "row" },
    element("button", { type: "button", role: "cell", onclick: () => goTo(line) }, String(number)),
    element("span", { class: "code", role: "cell" }, ...named, ...coloured((data.files[file].lines[number - 1] ?? "").trim())),
    element("span", { class: "times", role: "cell" }, times > 1 ? `${times}×` : ""),
    element("span", { class: "times", role: "cell" }, String(active)),
    element("span", { role: "cell" }, picture));
}

function goTo(line) {
  Object.assign(state, { open: line, access: 0, sample: 0, step: 0 });
  drawDetail();
  const button = document.querySelector(`[data-line="${line}"]`);
  button?.scrollIntoView({ block: "center" });
  button?.focus({ preventScroll: true });
}

function drawDivergence(number = 0) {
  const { samples, left_out: leftOut } = kernel();
  select("warp", samples.map(nameOfSample), number, drawDivergence);
  const box = byId("divergence");
  const has = samples.length > 0;
  byId("warp").parentElement.hidden = box.hidden = !has;
  byId("divergence-about").textContent = has
    ? "The lines as this warp came to them, from the top. A lane is filled where it is active."
    : "No warp of this kernel was sampled.";
  if (leftOut) byId("divergence-about").append(` ${leftOut} more sampled warps are left out, to keep the page small.`);
  if (!has) return;
  const lanes = element("span", { class: "scale", role: "columnheader" }, ...[0, 8, 16, 24, 31].map((lane) => element("span", {}, String(lane))));
  const head = element("div", { class: "way head", role: "row" }, ...["line", "", "times", "lanes"].map((name, i) =>
    element("span", { class: ["", "code", "times", "times"][i], role: "columnheader" }, name)), lanes);
  box.replaceChildren(element("div", { role: "table", "aria-labelledby": "divergence-title" }, head, ...waysOf(samples[number]).map(wayRow)));
}

// ---- all of a kernel

function drawRoofline() {
  const { roofline } = kernel();
  byId("roofline-says").textContent = roofline.says;
  byId("roofline-from").textContent = roofline.from ?? "";
  const parts = ["wide", "narrow"].filter((look) => roofline[look]).map((look) => {
    const box = element("div", { class: look });
    box.innerHTML = roofline[look]; // Python's own drawing, with no text of the user's
    return box;
  });
  byId("roofline").replaceChildren(...parts);
}

function drawKernel() {
  const { facts, verdict, findings, totals, columns, worst, without } = kernel();
  byId("without").textContent = without.length ? `No line has ${without.join(" or ")}.` : "";
  byId("facts").replaceChildren(...Object.entries(facts).map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  const box = byId("verdict");
  box.hidden = !verdict;
  box.classList.toggle("fine", worst < 0);
  const lead = worst < 0 ? [] : [element("b", {}, "The worst line: "), lineButton(worst), " "];
  box.replaceChildren(...(verdict ? [...lead, ...sentence(verdict)] : []));
  byId("findings").replaceChildren(...findings.map(finding));
  const orders = ["as in the source", "most costly first", ...columns.map((column) => `by ${column.title}`)];
  const keys = ["source", "cost", ...columns.keys()];
  if (!keys.includes(state.order)) state.order = "source";
  select("order", orders, keys.indexOf(state.order), (i) => { state.order = keys[i]; drawSource(); });
  byId("totals").hidden = totals.length === 0;
  byId("totals-list").replaceChildren(...totals.map(([name, value, meaning]) => element("div", {},
    element("dt", {}, element("code", {}, name)), element("dd", { class: "value" }, value), element("dd", { class: "meaning" }, meaning))));
  const first = worst < 0 ? findings.find((each) => each.line !== undefined)?.line ?? -1 : worst;
  Object.assign(state, { open: first, access: 0, sample: 0, step: 0 });
  drawSource();
  explain(-1);
  drawDivergence();
  drawRoofline();
}

select("kernel", data.kernels.map(({ name, facts, short }, i) => {
  const twin = data.kernels.some((other, k) => k !== i && other.name === name);
  return (twin ? `${name} <<<${facts.grid}, ${facts.block}>>>` : name) + (short ? ` · ${short}` : "");
}), state.kernel, (i) => { state.kernel = i; drawKernel(); });
byId("host").hidden = data.host.length === 0;
byId("host-findings").replaceChildren(...data.host.map(finding));
byId("listing").addEventListener("mouseleave", () => explain(-1));
byId("listing").addEventListener("keydown", (event) => { // up and down, from one line with counts to the next
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const buttons = [...document.querySelectorAll("[data-line]")];
  const at = buttons.indexOf(event.target);
  if (!by || at < 0) return;
  event.preventDefault();
  buttons[at + by]?.focus();
});
let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth !== width && byId("map")) drawMap();
  width = window.innerWidth;
});
drawKernel();
