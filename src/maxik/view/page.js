"use strict";
// Draws the scene of #data: plotly for the stage and the curves, a canvas for the strip over time. Everything that comes
// from a file is set as text.

const data = JSON.parse(document.getElementById("data").textContent);
const COLOURS = ["#1f77c9", "#e07b12", "#2a9d5c", "#b0459c", "#c9a400", "#17a2a2", "#d1495b", "#7a6ff0"];
const GREY = "#8d959f";
const ZOOM = 3.6;
const PAD = 0.45; // of the largest extent, around the figure: what lies outside the axes is not drawn
const by = (id) => document.getElementById(id);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colour = (chain) => COLOURS[chain % COLOURS.length];

function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.data), (c) => c.charCodeAt(0));
  const values = new Float32Array(bytes.buffer);
  const row = packed.shape.slice(1).reduce((a, b) => a * b, 1);
  return { rows: packed.shape[0], at: (frame) => values.subarray(Math.min(frame, packed.shape[0] - 1) * row, (Math.min(frame, packed.shape[0] - 1) + 1) * row) };
}

const positions = unpack(data.positions);
for (const chain of data.chains) {
  for (const key of ["distance", "reach", "miss", "zero_normal", "normal", "curve", "points"]) {
    if (chain[key]) chain[key] = unpack(chain[key]);
  }
  for (const name of Object.keys(chain.euler)) chain.euler[name] = unpack(chain.euler[name]);
}
const last = data.sent.length - 1;
let now = 0;

// ---- geometry of one frame ------------------------------------------------------------------------------------------

const point = (row, node) => [row[3 * node], row[3 * node + 1], row[3 * node + 2]];
const add = (a, b, k = 1) => [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]];
const minus = (a, b) => add(a, b, -1);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const size = (a) => Math.hypot(...a);
const unit = (a) => { const n = size(a); return n > 0 ? a.map((x) => x / n) : [NaN, NaN, NaN]; };

function lines(segments) {
  const out = { x: [], y: [], z: [] };
  for (const points of segments) {
    for (const p of points) { out.x.push(p[0]); out.y.push(p[1]); out.z.push(p[2]); }
    out.x.push(null); out.y.push(null); out.z.push(null);
  }
  return out;
}

function extent() {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const shown = new Set([...data.joints, ...data.chains.map((c) => c.goal), ...(data.joints.length ? [] : data.others)]);
  const grow = (p) => p.forEach((x, i) => { if (isFinite(x)) { low[i] = Math.min(low[i], x); high[i] = Math.max(high[i], x); } });
  for (let frame = 0; frame <= last; frame += Math.max(1, Math.floor(last / 40))) {
    for (const node of shown) grow(point(positions.at(frame), node));
    for (const chain of data.chains) if (chain.curve) { const row = chain.curve.at(frame); for (let i = 0; i < row.length; i += 3) grow([row[i], row[i + 1], row[i + 2]]); }
  }
  return low.map((x, i) => isFinite(x) ? [x, high[i]] : [-1, 1]);
}

const box = extent();
const largest = Math.max(...box.map(([a, b]) => b - a)) || 1;

function circle(centre, normal, radius) {
  const n = unit(normal), seed = Math.abs(n[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  const u = unit(cross(n, seed)), v = cross(n, u), points = [];
  for (let i = 0; i <= 64; i++) {
    const t = 2 * Math.PI * i / 64;
    points.push(add(add(centre, u, radius * Math.cos(t)), v, radius * Math.sin(t)));
  }
  return points;
}

function floor() {
  const power = 10 ** Math.floor(Math.log10(largest / 8)), step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= largest / 8);
  const lattice = [], z = box[2][0];
  const [[x0, x1], [y0, y1]] = [box[0], box[1]].map(([a, b]) => [Math.floor(a / step - 1) * step, Math.ceil(b / step + 1) * step]);
  for (let x = x0; x <= x1 + step / 2; x += step) lattice.push([[x, y0, z], [x, y1, z]]);
  for (let y = y0; y <= y1 + step / 2; y += step) lattice.push([[x0, y, z], [x1, y, z]]);
  return lines(lattice);
}

function pathOf(node, from, to) {
  const points = [];
  for (let frame = from; frame <= to; frame++) points.push(point(positions.at(frame), node));
  return points;
}

function frameTraces(frame) {
  const row = positions.at(frame), traces = [];
  const fk = data.bones.filter(([, , chain]) => chain < 0 || !data.chains[chain].solved[frame]);
  traces.push(lines(fk.map(([a, b]) => [point(row, a), point(row, b)])));
  traces.push(lines([data.joints.map((node) => point(row, node))]));
  data.chains.forEach((chain, index) => {
    const solved = data.bones.filter(([, , c]) => c === index && chain.solved[frame]).map(([a, b]) => [point(row, a), point(row, b)]);
    traces.push(lines(solved));
    const goal = point(row, chain.goal), start = point(row, chain.start), end = point(row, chain.end);
    if (chain.spline) {
      const curve = chain.curve.at(frame), accepted = chain.points.at(frame);
      const triples = (flat) => Array.from({ length: flat.length / 3 }, (_, i) => [flat[3 * i], flat[3 * i + 1], flat[3 * i + 2]]);
      traces.push(lines([triples(accepted)]), lines([triples(curve)]), lines([]), lines([]), lines([pathOf(chain.end, 0, frame)]));
      return;
    }
    const normal = [...chain.normal.at(frame)], zero = [...chain.zero_normal.at(frame)];
    const reach = chain.reach.at(frame)[0], axis = minus(goal, start);
    const plane = [start];
    if (chain.joints.length > 1) plane.push(point(row, chain.joints[1]));
    plane.push(end, start);
    traces.push(lines([[goal]]));
    traces.push(lines([circle(start, isFinite(normal[0]) ? normal : cross(axis, [0, 0, 1]), reach)]));
    traces.push(lines([[start, add(start, zero, 0.35 * reach)]]));
    traces.push(lines([plane]));
    traces.push(lines([pathOf(chain.end, 0, frame)]));
  });
  return traces;
}

const styled = (extra) => Object.assign({ type: "scatter3d", mode: "lines", hoverinfo: "skip", showlegend: false }, extra);
function styles() {
  const traces = [
    styled({ line: { color: GREY, width: 5 } }),
    styled({ mode: "markers", marker: { color: GREY, size: 3 }, hoverinfo: "text", text: data.joints.map((node) => data.names[node]) }),
  ];
  data.chains.forEach((chain, index) => {
    const c = colour(index);
    traces.push(styled({ line: { color: c, width: 10 } }));
    traces.push(chain.spline ? styled({ mode: "markers", marker: { color: c, size: 5, symbol: "diamond" } })
      : styled({ mode: "markers", marker: { color: c, size: 7, symbol: "cross" }, hoverinfo: "text", text: ["goal of " + chain.name] }));
    traces.push(styled({ line: { color: c, width: 2, dash: chain.spline ? "solid" : "dot" }, opacity: 0.6 }));
    traces.push(styled({ line: { color: c, width: 4 }, opacity: 0.9 }));
    traces.push(styled({ line: { color: c, width: 2 }, opacity: 0.55 }));
    traces.push(styled({ line: { color: c, width: 1.5 }, opacity: 0.4 }));
  });
  return traces;
}

// ---- stage, curves, strip, cards -----------------------------------------------------------------------------------

function drawStage() {
  const traces = styles(), geometry = frameTraces(now);
  traces.forEach((trace, i) => Object.assign(trace, geometry[i]));
  traces.push(styled({ ...floor(), line: { color: css("--line"), width: 1.5 } }));
  const axis = (range) => ({ range, visible: false });
  const pad = PAD * largest, ranges = box.map(([a, b]) => [a - pad, b + pad]);
  const spans = ranges.map(([a, b]) => b - a), most = Math.max(...spans);
  return Plotly.newPlot("stage", traces, {
    margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "rgba(0,0,0,0)", showlegend: false, uirevision: "kept",
    scene: {
      xaxis: axis(ranges[0]), yaxis: axis(ranges[1]), zaxis: axis(ranges[2]), dragmode: "turntable",
      aspectmode: "manual", aspectratio: { x: ZOOM * spans[0] / most, y: ZOOM * spans[1] / most, z: ZOOM * spans[2] / most },
      camera: { eye: { x: 1.3, y: -0.75, z: 0.45 }, center: { x: 0, y: 0, z: 0 }, projection: { type: "orthographic" } },
    },
  }, { displayModeBar: false, responsive: true, scrollZoom: true });
}

function drawCurves() {
  if (!data.chains.length) { by("curves").hidden = true; return; }
  const [place, only] = by("pick").value.split(":").map(Number), chain = data.chains[place];
  const traces = [], dashes = ["solid", "dash", "dot", "dashdot"];
  Object.entries(chain.euler).forEach(([name, euler], joint) => {
    if (only >= 0 && joint !== only) return;
    ["x", "y", "z"].forEach((letter, axis) => {
      const y = data.sent.map((_, frame) => euler.at(frame)[axis]);
      const text = name.length > 16 ? name.slice(0, 15) + "\u2026" : name;
      traces.push({ x: data.sent, y, name: plain(text) + " " + letter, mode: "lines", line: { width: 1.6, color: ["#d1495b", "#2a9d5c", "#1f77c9"][axis], dash: dashes[joint % 4] } });
    });
  });
  Plotly.newPlot("curves", traces, {
    margin: { l: 38, r: 8, t: 8, b: 26 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, hovermode: "closest",
    font: { color: css("--soft"), size: 10 }, xaxis: { gridcolor: css("--line"), zeroline: false }, yaxis: { gridcolor: css("--line"), zeroline: false, ticksuffix: "\u00b0" },
    shapes: [cursor()],
  }, { displayModeBar: false, responsive: true });
}

const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
const cursor = () => ({ type: "line", x0: data.sent[now], x1: data.sent[now], y0: 0, y1: 1, yref: "paper", line: { color: css("--soft"), width: 1 } });

const diagnoses = (chain, frame) => Object.keys(chain.causes).filter((cause) => chain.causes[cause][frame]);

function drawStrip() {
  const canvas = by("strip"), height = 5 * Math.max(1, data.chains.length) + 2, width = canvas.clientWidth || 600;
  canvas.width = width * devicePixelRatio; canvas.height = height * devicePixelRatio; canvas.style.height = height + "px";
  const ctx = canvas.getContext("2d");
  ctx.scale(devicePixelRatio, devicePixelRatio);
  data.chains.forEach((chain, index) => {
    for (let frame = 0; frame <= last; frame++) {
      const bad = diagnoses(chain, frame).length > 0;
      ctx.clearRect(Math.floor(frame * width / (last + 1)), 5 * index, width, 4);
      ctx.fillStyle = bad ? css("--bad") : chain.solved[frame] ? colour(index) + "66" : css("--line");
      ctx.fillRect(Math.floor(frame * width / (last + 1)), 5 * index, Math.ceil(width / (last + 1)), 4);
    }
  });
}

function element(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}

function drawCards() {
  by("cards").replaceChildren(...data.chains.map((chain, index) => {
    const card = element("div", undefined, "card"), title = element("h2", chain.name), found = diagnoses(chain, now);
    card.style.setProperty("--c", colour(index));
    title.append(element("span", chain.method));
    const state = !chain.solved[now] ? "not solved here: FK pose" : found.length ? found.join("; ") : "solved";
    card.append(title, element("p", state, chain.solved[now] && !found.length ? "state" : "state bad"));
    if (!chain.spline) {
      const [d, r, m] = [chain.distance, chain.reach, chain.miss].map((entry) => entry.at(now)[0]);
      card.append(element("p", `goal at ${d.toPrecision(4)} of ${r.toPrecision(4)} (${(100 * d / r).toFixed(1)} %), missed by ${m.toPrecision(2)}`));
    }
    return card;
  }));
}

function show(frame) {
  now = Math.max(0, Math.min(last, Math.round(frame)));
  const geometry = frameTraces(now), update = { x: [], y: [], z: [] };
  for (const trace of geometry) for (const key of ["x", "y", "z"]) update[key].push(trace[key]);
  Plotly.restyle("stage", update, geometry.map((_, i) => i));
  if (data.chains.length) Plotly.relayout("curves", { shapes: [cursor()] });
  drawCards();
  by("slider").value = now;
  by("clock").textContent = `frame ${data.sent[now]} of ${data.frames - 1}  ${data.seconds[now].toFixed(2)} s`;
}

// ---- time ----------------------------------------------------------------------------------------------------------

let playing = false, startedAt = 0, startedFrom = 0;
function tick(time) {
  if (!playing) return;
  const seconds = startedFrom + (time - startedAt) / 1000, length = data.seconds[last] || 1;
  const wanted = seconds % (length + 1 / data.frame_rate);
  let frame = now;
  if (wanted < data.seconds[frame]) frame = 0;
  while (frame < last && data.seconds[frame + 1] <= wanted) frame++;
  if (frame !== now) show(frame);
  requestAnimationFrame(tick);
}
function play(on) {
  playing = on && last > 0;
  by("play").textContent = playing ? "\u275a\u275a" : "\u25b6";
  if (playing) { startedAt = performance.now(); startedFrom = data.seconds[now]; requestAnimationFrame(tick); }
}

function start() {
  by("title").textContent = data.title;
  const h = data.header, thinned = data.sent.length < data.frames ? `, ${data.sent.length} of them shown` : "";
  by("facts").textContent = `${h.nodes} nodes, ${data.frames} frames at ${data.frame_rate} a second${thinned} \u00b7 ${h.engine}, profile ${h.profile}, ${h.environment} \u00b7 SHA-256 ${h.sha256.slice(0, 16)}\u2026`;
  by("legend").replaceChildren(...[["FK bones", GREY], ["solved limb (its chain's colour)", colour(0)]].map(([text, c]) => {
    const key = element("span", text, "key"); key.style.setProperty("--c", c); return key;
  }), ...(data.chains.every((c) => c.spline) ? [] : [element("span", "\u271a goal"), element("span", "dotted: reach, in the limb's plane"), element("span", "line from the start joint: zero-map normal"), element("span", "thin: limb plane; trail of the end joint")]), ...(data.chains.some((c) => c.spline) ? [element("span", "\u25c6 accepted points")] : []));
  const missing = [...data.not_solved.map((text) => "not solved: " + text), ...data.not_evaluated];
  by("missing").hidden = missing.length === 0;
  by("missing").querySelector("summary").textContent = `${missing.length} not evaluated, or on an assumption`;
  by("missing").querySelector("ul").replaceChildren(...missing.map((text) => element("li", text)));
  by("pick").replaceChildren(...data.chains.flatMap((chain, index) => {
    const joints = Object.keys(chain.euler), each = joints.length > 2;
    return (each ? joints : [chain.name]).map((name, joint) => {
      const option = element("option", each ? `${chain.name}, ${name}` : name);
      option.value = `${index}:${each ? joint : -1}`;
      return option;
    });
  }));
  by("slider").max = last;
  const wanted = Number((/frame=(\d+)/.exec(location.hash) || [])[1] || 0);
  now = Math.max(0, data.sent.findLastIndex((frame) => frame <= wanted));
  drawStage().then(() => { drawCurves(); drawStrip(); show(now); document.body.dataset.ready = "yes"; });
  by("slider").addEventListener("input", () => { play(false); show(Number(by("slider").value)); });
  by("play").addEventListener("click", () => play(!playing));
  by("pick").addEventListener("change", drawCurves);
  by("strip").addEventListener("click", (event) => { play(false); show(event.offsetX / by("strip").clientWidth * (last + 1) - 0.5); });
  addEventListener("resize", drawStrip);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { drawStage().then(() => show(now)); drawCurves(); drawStrip(); });
  addEventListener("keydown", (event) => {
    if (event.key === " ") { event.preventDefault(); play(!playing); }
    if (event.key === "ArrowRight") { play(false); show(now + 1); }
    if (event.key === "ArrowLeft") { play(false); show(now - 1); }
  });
}

start();
