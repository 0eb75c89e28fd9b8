// Draws `graph`: nodes in layers from top to bottom, scopes as boxes that open and close.
const NS = "http://www.w3.org/2000/svg", ROW = 64, GAP = 18, BOX = 26, PAD = 12;
const COLOURS = {Placeholder: "#8fce8f", VariableV2: "#f2b56b", VarHandleOp: "#f2b56b", Const: "#bbbbbb", scope: "#b3a7e0"};
const style = document.createElement("style");
style.textContent = `body{margin:0;text-align:center;font:12px sans-serif;color:#222;background:#fff;overflow:auto}
 text{font:12px sans-serif;fill:currentColor} rect{stroke:#777} .scope{cursor:pointer} .open{fill:#8882;stroke:#999}
 path{fill:none;stroke:#888} .control{stroke-dasharray:3 3} #info{text-align:left;position:sticky;left:0;top:0;padding:4px 8px;color:#777}
 @media (prefers-color-scheme: dark){body{color:#ddd;background:#181818} .leaf text,.scope text{fill:#111} .open+text{fill:#ddd!important}}`;
document.head.append(style);
const info = document.createElement("div"); info.id = "info"; document.body.append(info);
const root = {name: "", children: new Map(), open: true};
for (const [name, type, shape] of graph.nodes) {
  let at = root, path = "";
  for (const part of name.split("/")) {
    path = path ? path + "/" + part : part;
    if (!at.children.has(part)) at.children.set(part, {name: path, label: part, children: new Map(), open: false, count: 0});
    at = at.children.get(part); at.count++;
  }
  at.type = type; at.shape = shape;
}
const byName = new Map();
(function walk(n) { for (const c of n.children.values()) { c.parent = n; byName.set(c.name, c); walk(c); } })(root);

function visible(name) {  // the outermost closed box around a node
  let node = byName.get(name), found = node;
  for (let p = node.parent; p !== root && p; p = p.parent) if (!p.open) found = p;
  return found;
}
function element(tag, attributes, parent) {
  const made = document.createElementNS(NS, tag);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  parent.append(made);
  return made;
}
function layout(scope, edges) {  // sizes and places of what is in an open scope, relative to it
  const items = [...scope.children.values()];
  for (const item of items) {
    if (item.children.size && item.open) layout(item, edges);
    else { item.width = Math.max(40, 7 * item.label.length + (item.children.size ? 34 : 20)); item.height = BOX; }
  }
  const child = n => { while (n.parent && n.parent !== scope) n = n.parent; return n.parent === scope ? n : null; };
  const links = new Map(items.map(i => [i, new Set()]));
  for (const [a, b] of edges) { const x = child(a), y = child(b); if (x && y && x !== y) links.get(y).add(x); }
  const level = new Map(items.map(i => [i, 0]));
  for (let round = 0, moved = true; moved && round < items.length; round++) {
    moved = false;
    for (const item of items) for (const from of links.get(item))
      if (level.get(item) < level.get(from) + 1 && level.get(from) + 1 < items.length) { level.set(item, level.get(from) + 1); moved = true; }
  }
  const layers = [];
  for (const item of items) (layers[level.get(item)] ||= []).push(item);
  let y = scope === root ? PAD : PAD + 18, widest = 0;
  const place = new Map();
  for (const layer of layers.filter(Boolean)) {
    layer.sort((a, b) => mean(a) - mean(b));
    const width = layer.reduce((sum, i) => sum + i.width + GAP, -GAP);
    let x = -width / 2;
    for (const item of layer) { item.x = x; item.y = y; place.set(item, x + item.width / 2); x += item.width + GAP; }
    widest = Math.max(widest, width);
    y += Math.max(...layer.map(i => i.height)) + ROW - BOX;
  }
  function mean(item) { const at = [...links.get(item)].map(f => place.get(f)).filter(v => v !== undefined); return at.length ? at.reduce((a, b) => a + b) / at.length : 0; }
  scope.width = Math.max(widest + 2 * PAD, scope.label ? 7 * scope.label.length + 30 : 0);
  scope.height = y - (ROW - BOX) + PAD;
  for (const item of items) item.x += scope.width / 2;
}
function draw() {
  const edges = new Map();
  for (const [a, b, control] of graph.edges) {
    const x = visible(a), y = visible(b);
    if (x !== y) { const key = x.name + "\n" + y.name; if (!edges.has(key) || !control) edges.set(key, [x, y, control]); }
  }
  layout(root, [...edges.values()]);
  document.querySelector("svg")?.remove();
  const svg = element("svg", {width: root.width, height: root.height}, document.body);
  const defs = element("defs", {}, svg), marker = element("marker", {id: "head", markerWidth: 8, markerHeight: 8, refX: 7, refY: 3, orient: "auto"}, defs);
  element("path", {d: "M0,0 L7,3 L0,6 z", style: "fill:#888;stroke:none"}, marker);
  const arrows = element("g", {}, svg), boxes = element("g", {}, svg);
  (function put(scope, dx, dy) {
    for (const item of scope.children.values()) {
      item.ax = dx + item.x; item.ay = dy + item.y;
      const inside = item.children.size > 0, g = element("g", {class: inside ? "scope" : "leaf"}, boxes);
      const rect = element("rect", {x: item.ax, y: item.ay, width: item.width, height: item.height, rx: 7}, g);
      if (inside && item.open) rect.setAttribute("class", "open");
      else rect.setAttribute("fill", COLOURS[inside ? "scope" : item.type] || "#9fc5e8");
      const title = element("text", {x: item.ax + item.width / 2, y: item.ay + 17, "text-anchor": "middle"}, g);
      title.textContent = (inside ? (item.open ? "− " : "+ ") : "") + item.label;
      g.onmouseenter = () => info.textContent = item.name + (inside ? ` (${item.count} nodes)` : `  ${item.type} ${item.shape}`);
      if (inside) g.onclick = () => { item.open = !item.open; draw(); };
      if (inside && item.open) put(item, item.ax, item.ay);
    }
  })(root, 0, 0);
  for (const [a, b, control] of edges.values()) {
    const x1 = a.ax + a.width / 2, y1 = a.ay + a.height, x2 = b.ax + b.width / 2, y2 = b.ay, m = (y1 + y2) / 2;
    element("path", {d: `M${x1},${y1} C${x1},${m} ${x2},${m} ${x2},${y2}`, class: control ? "control" : "", "marker-end": "url(#head)"}, arrows);
  }
  if (!info.textContent) info.textContent = `${graph.nodes.length} nodes; click a scope to open it`;
}
draw();
