/// The hash by which the policy of the page knows its style.
let pageStyleHash = "sha256-7mV2TGCkzvPHdZUAxWN3RdgNhQN5fNqI9rCzBT90xKk="

/// How the page looks, in light and dark, on a telephone and on paper.
///
/// Each outcome has a colour, and wherever it is used a sign beside it.
let pageStyle: Markup = """

  :root {
    color-scheme: light dark;
    --paper: #fbfbfa; --card: #ffffff; --ink: #1c2126; --soft: #59626c; --rule: #dcdfe3; --tint: #f1f3f5;
    --link: #1d5fae; --focus: #1d5fae;
    --bad: #b3261e; --bad-tint: #fcebea; --unmet: #0b6572; --unmet-tint: #e1f3f5; --lab: #6a3fa0; --lab-tint: #f3edfa; --warn: #8a5300; --warn-tint: #fdf3e1;
    --good: #1c6b3d; --good-tint: #e7f4ec; --model: #e3ecf8; --model-edge: #6c8fbd; --device: #e9eef0; --device-edge: #7b8c97;
    --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --paper: #14171a; --card: #1b1f23; --ink: #e6e8ea; --soft: #a3adb7; --rule: #353c43; --tint: #23282d;
      --link: #86b8f2; --focus: #9cc5f5;
      --bad: #ff9489; --bad-tint: #3b1f1d; --unmet: #74d2de; --unmet-tint: #15343a; --lab: #c9a9f5; --lab-tint: #2c2338; --warn: #f0bd6a; --warn-tint: #362a16;
      --good: #7fd3a0; --good-tint: #1a3024; --model: #22334a; --model-edge: #6f97c9; --device: #2a3238; --device-edge: #8698a3;
    }
  }
  * { box-sizing: border-box; }
  html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
  body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
  header.page, main, #filters, footer { max-width: 78rem; margin: 0 auto; padding: 0 1.25rem; }
  h1, h2, h3, h4 { line-height: 1.25; margin: 0; font-weight: 650; text-wrap: balance; overflow-wrap: anywhere; }
  h1 { font-size: 1.9rem; letter-spacing: -0.015em; }
  h2 { font-size: 1.25rem; margin: 2.25rem 0 .6rem; padding-top: .9rem; border-top: 1px solid var(--rule); }
  h3 { font-size: 1.02rem; margin: 1.2rem 0 .4rem; }
  h4 { font-size: .85rem; margin: .9rem 0 .3rem; color: var(--soft); font-weight: 600; }
  p { margin: .3rem 0; overflow-wrap: anywhere; }
  a { color: var(--link); }
  ul, ol { margin: .3rem 0; padding-left: 1.2rem; }
  code, pre, kbd, .num, .chip { font-family: var(--mono); font-size: .87em; }
  pre { margin: .3rem 0; line-height: 1.4; white-space: pre; }
  [hidden] { display: none !important; }
  :focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 3px; }
  .skip { position: absolute; left: -100vw; }
  .skip:focus { left: .5rem; top: .5rem; background: var(--card); padding: .4rem .8rem; z-index: 2; }
  .sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  .note, .keys, footer { color: var(--soft); font-size: .87rem; }
  .bad.note { color: var(--bad); }
  .count { display: inline-block; min-width: 1.7em; padding: 0 .45em; border-radius: 1em; background: var(--tint); color: var(--soft); font-size: .8rem; font-weight: 600; text-align: center; line-height: 1.55; }
  .scroll { overflow-x: auto; max-width: 100%; }
  .scroll.fromend { direction: rtl; } .scroll.fromend > * { direction: ltr; margin-left: 0; margin-right: auto; }

  header.page { padding-top: 2rem; padding-bottom: .25rem; }
  .brand { color: var(--soft); font-size: .87rem; margin-bottom: .35rem; }
  header.bad h1 { color: var(--bad); }
  header.good h1 { color: var(--good); }
  header.fair h1 { color: var(--warn); }
  .alarm { background: var(--bad-tint); color: var(--bad); border-left: 4px solid var(--bad); padding: .55rem .9rem; margin: .8rem 0; border-radius: 0 4px 4px 0; }
  section.alarm h2 { border: 0; margin: 0 0 .2rem; padding: 0; font-size: 1rem; }
  .bar { display: block; width: 100%; height: 10px; border-radius: 5px; margin: 1rem 0 .6rem; background: var(--tint); }
  .bar rect { stroke: var(--paper); stroke-width: 2px; vector-effect: non-scaling-stroke; }
  .bar .diverged { fill: var(--bad); } .bar .unmet { fill: var(--unmet); } .bar .lab { fill: var(--lab); } .bar .incomplete { fill: var(--warn); }
  .bar .flaky { fill: var(--warn); } .bar .skipped { fill: var(--soft); } .bar .agreed { fill: var(--good); }
  .counts { list-style: none; padding: 0; margin: .4rem 0 0; display: flex; flex-wrap: wrap; gap: .3rem 1.6rem; }
  .counts b { font-size: 1.2rem; font-weight: 650; }
  .counts a { color: inherit; text-decoration: none; }
  .counts a:hover span { text-decoration: underline; }
  .counts .diverged { color: var(--bad); } .counts .unmet { color: var(--unmet); } .counts .lab { color: var(--lab); } .counts .agreed { color: var(--good); }
  .counts .incomplete, .counts .flaky { color: var(--warn); } .counts .skipped { color: var(--soft); }

  #filters { margin-top: .8rem; margin-bottom: 0; }
  #filters > summary { color: var(--soft); font-size: .87rem; }
  .glance { list-style: none; padding: 0; }
  .glance > li { border-left: 4px solid var(--bad); padding: .1rem 0 .1rem .8rem; margin: .8rem 0; }
  .glance > li.unmet { border-left-color: var(--unmet); } .glance > li.lab { border-left-color: var(--lab); } .glance > li.incomplete { border-left-color: var(--warn); } .glance > li.skipped { border-left-color: var(--rule); }
  .glance > li > a { font-weight: 650; } .glance code { color: var(--soft); overflow-wrap: anywhere; }
  .glance .replay code { color: var(--ink); }
  .fields { display: flex; flex-wrap: wrap; gap: .5rem .9rem; align-items: center; background: var(--tint); border-radius: 6px; padding: .6rem .8rem; }
  label { font-size: .87rem; color: var(--soft); }
  input[type=search], select, button { font: inherit; font-size: .9rem; color: var(--ink); background: var(--card); border: 1px solid var(--device-edge); border-radius: 4px; padding: .2rem .5rem; max-width: 14rem; min-height: 1.9rem; }
  button { cursor: pointer; }
  button:hover { border-color: var(--link); color: var(--link); }
  kbd { border: 1px solid var(--rule); border-radius: 3px; padding: 0 .3em; background: var(--card); color: var(--ink); }

  dl { margin: .3rem 0; }
  dt { color: var(--soft); font-size: .82rem; }
  dd { margin: 0; overflow-wrap: anywhere; }
  .properties { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(11rem, 45%), 1fr)); gap: .45rem 1.4rem; }
  .properties .wide { grid-column: 1 / -1; }
  .meters { display: flex; flex-wrap: wrap; gap: .4rem 2rem; }
  meter { width: 9rem; height: .8rem; vertical-align: middle; }
  .share { color: var(--soft); }

  table { border-collapse: collapse; font-size: .87rem; }
  th, td { text-align: left; padding: .18rem .7rem .18rem 0; vertical-align: top; font-weight: 400; }
  thead th { color: var(--soft); font-size: .78rem; border-bottom: 1px solid var(--rule); white-space: nowrap; vertical-align: bottom; }
  tbody tr + tr > * { border-top: 1px solid var(--tint); }
  td.num, th.num { text-align: right; white-space: nowrap; }
  .cases { width: 100%; }
  .cases th { overflow-wrap: anywhere; min-width: 14rem; }
  .cases .name + td { min-width: 9rem; } .cases .name, .cases .timeline td { color: var(--ink); } .cases .timeline th { min-width: 0; } .cases .trace[open] { margin-bottom: .8rem; }
  .cases td { color: var(--soft); overflow-wrap: anywhere; }
  .cases td.num { width: 6rem; }
  .slow .suite { display: block; color: var(--soft); font-size: .8rem; }

  details { margin: .35rem 0; }
  summary { cursor: pointer; padding: .1rem 0; overflow-wrap: anywhere; }
  summary:hover { color: var(--link); }
  details.suite > .scroll { padding-left: 1.1rem; border-left: 2px solid var(--tint); margin-left: .3rem; }
  p.suite { padding-left: 1.1rem; }

  .case { background: var(--card); border: 1px solid var(--rule); border-left-width: 4px; border-radius: 6px; padding: .8rem 1.1rem .7rem; margin: 1rem 0; content-visibility: auto; contain-intrinsic-size: auto 700px; }
  .case.diverged { border-left-color: var(--bad); } .case.unmet { border-left-color: var(--unmet); } .case.lab { border-left-color: var(--lab); }
  .case.incomplete, .case.flaky { border-left-color: var(--warn); }
  .case h3 { margin: 0 0 .2rem; scroll-margin-top: 1rem; }
  .badge { display: inline-block; font-size: .76rem; font-weight: 650; padding: .08em .55em; border-radius: 3px; margin-right: .35em; white-space: nowrap; vertical-align: .1em; }
  .badge.diverged { background: var(--bad-tint); color: var(--bad); } .badge.lab { background: var(--lab-tint); color: var(--lab); }
  .badge.unmet { background: var(--unmet-tint); color: var(--unmet); }
  .badge.incomplete, .badge.flaky { background: var(--warn-tint); color: var(--warn); }
  .badge.agreed { background: var(--good-tint); color: var(--good); } .badge.skipped { background: var(--tint); color: var(--soft); }
  .where { color: var(--soft); font-size: .85rem; }
  .where .val { color: var(--ink); font-family: var(--mono); font-size: .93em; }
  .dot { color: var(--rule); }
  .tag { background: var(--tint); border-radius: 3px; padding: 0 .4em; }
  .message { font-size: 1.02rem; margin: .45rem 0; white-space: pre-line; }
  .case.diverged .message { color: var(--bad); } .case.unmet .message { color: var(--unmet); }
  .aloud { font-size: 1.02rem; font-style: italic; margin: .45rem 0; }
  .replay { display: flex; gap: .5rem; align-items: center; background: var(--tint); border-radius: 4px; padding: .3rem .35rem .3rem .7rem; margin: .5rem 0; }
  .replay code { flex: 1; overflow-wrap: anywhere; user-select: all; }
  .replay code::before { content: "$ "; color: var(--soft); user-select: none; }
  .source pre { background: var(--tint); border-radius: 4px; padding: .3rem .6rem; margin: 0; width: max-content; min-width: 100%; }
  .source .row { display: inline-block; min-width: 100%; }
  .source .no { color: var(--soft); user-select: none; }
  .source .hit { background: var(--bad-tint); font-weight: 650; } .source .why { color: var(--bad); }
  .unmet .source .hit { background: var(--unmet-tint); } .unmet .source .why { color: var(--unmet); }
  .lab .source .hit { background: var(--lab-tint); } .lab .source .why { color: var(--lab); }
  .facts { display: flex; flex-wrap: wrap; gap: 0 3rem; }
  .facts > div { min-width: 0; max-width: 100%; }
  .allowed tfoot th, .allowed tfoot td { border-top: 2px solid var(--rule); padding-top: .3rem; }
  .history ul { list-style: none; padding: 0; font-size: .87rem; max-width: 34rem; }
  .past { margin: .6rem 0; } .past .label { margin: 0; }
  .links { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; font-size: .87rem; }
  .links li { overflow-wrap: anywhere; }
  tr.bad th, tr.bad td { color: var(--bad); font-weight: 600; }
  .strip { list-style: none; padding: 0; margin: .15rem 0; display: flex; flex-wrap: wrap; gap: 2px; font-size: .72rem; line-height: 1.25rem; }
  .strip li { position: relative; width: 1.25rem; text-align: center; border-radius: 3px; background: var(--tint); color: var(--soft); }
  .strip .diverged { background: var(--bad-tint); color: var(--bad); } .strip .lab { background: var(--lab-tint); color: var(--lab); }
  .strip .unmet { background: var(--unmet-tint); color: var(--unmet); }
  .strip .incomplete, .strip .flaky { background: var(--warn-tint); color: var(--warn); } .strip .agreed { background: var(--good-tint); color: var(--good); }
  .chip { display: inline-block; background: var(--device); border-radius: 3px; padding: 0 .45em; overflow-wrap: break-word; }
  .chip.want { background: var(--good-tint); color: var(--good); }
  .chip.bad { background: var(--bad-tint); color: var(--bad); font-weight: 650; }
  .kind { color: var(--soft); }
  .files { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .1rem 1.4rem; font-size: .87rem; }
  .files li { overflow-wrap: anywhere; }
  .label { color: var(--soft); font-size: .85rem; font-weight: 600; margin: .7rem 0 0; }
  .tries { list-style: none; padding: 0; }

  .timeline { width: 100%; }
  .timeline th:nth-child(1) { width: 5rem; } .timeline th:nth-child(3) { width: 3rem; }
  .timeline th:nth-child(2) { width: 28%; } .timeline th:nth-child(5) { width: 26%; }
  .timeline td { padding: .14rem .8rem .14rem 0; }
  .timeline td:first-child, .timeline th:first-child, .timeline td:nth-child(3), .timeline th:nth-child(3) { font-family: var(--mono); font-size: .84em; text-align: right; color: var(--soft); white-space: nowrap; }
  .timeline td:nth-child(2) .chip { background: var(--model); margin-bottom: 1px; }
  .timeline td:nth-child(2), .timeline td:nth-child(5) { min-width: 8rem; }
  .timeline td:nth-child(4) { min-width: 12rem; overflow-wrap: anywhere; }
  .timeline .same { color: var(--rule); padding-left: .5em; }
  .timeline .line { color: var(--soft); font-size: .85em; white-space: nowrap; }
  .timeline .labrow td { background: var(--lab-tint); }
  .timeline .end td { border-top: 2px solid var(--rule); border-bottom: 2px solid var(--rule); background: var(--tint); padding-top: .35rem; padding-bottom: .35rem; }
  .timeline .end.diverged td { background: var(--bad-tint); border-color: var(--bad); color: var(--bad); }
  .timeline .end.unmet td { background: var(--unmet-tint); border-color: var(--unmet); color: var(--unmet); }
  .timeline .end .chip.want { background: var(--good-tint); }
  .timeline .end .chip.bad { background: var(--card); }
  .timeline .gap td { color: var(--soft); text-align: center; background: var(--tint); font-family: inherit; }
  tr.end td:first-child, tr.gap td:first-child { color: inherit; }

  svg { font: 11px var(--mono); max-width: none; display: block; }
  svg text { fill: var(--ink); white-space: pre; }
  .lanes { margin: .5rem 0; }
  .lanes .lane { fill: var(--soft); font: 600 12px system-ui, sans-serif; }
  .lanes .time { fill: var(--soft); font-size: 10px; }
  .lanes .step { fill: var(--ink); }
  .lanes .mbox { fill: var(--model); stroke: var(--model-edge); } .lanes .dbox { fill: var(--device); stroke: var(--device-edge); }
  .lanes .want { fill: var(--good-tint); stroke: var(--good); stroke-dasharray: 4 2; }
  .lanes .bad { fill: var(--bad-tint); stroke: var(--bad); stroke-width: 2; }
  .lanes .band { fill: var(--bad-tint); opacity: .55; }
  .lanes .badtext { fill: var(--bad); font: 600 12px system-ui, sans-serif; }
  .spark { margin: .2rem 0; }
  .spark polyline { fill: none; stroke: var(--device-edge); stroke-width: 1.5; }
  .badmark { fill: none; stroke: var(--bad); stroke-width: 2; } .unmetmark { fill: none; stroke: var(--unmet); stroke-width: 2; } .flakymark { fill: var(--warn); } .labmark { fill: var(--lab); }
  .latency td, .latency th { vertical-align: middle; }
  .latency svg { display: inline-block; vertical-align: middle; }
  .axis text { fill: var(--soft); font-size: 10px; }
  .gridline { stroke: var(--rule); } .whisker { stroke: var(--device-edge); fill: none; }
  .quartiles { fill: var(--model); stroke: var(--model-edge); } .median { stroke: var(--ink); stroke-width: 2; } .worst { fill: var(--warn); }

  .legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; font-size: .83rem; color: var(--soft); align-items: center; }
  .legend li { display: flex; align-items: center; gap: .35rem; }
  .key { display: inline-block; width: 1.5em; text-align: center; border-radius: 3px; }
  .matrix { font-size: .8rem; }
  .matrix th, .matrix td { padding: 0 .15rem; border: 1px solid var(--rule); }
  .matrix tbody th { white-space: nowrap; padding: .05rem .5rem; position: sticky; left: 0; background: var(--paper); }
  .matrix thead th { text-align: left; vertical-align: bottom; padding: .3rem 0; }
  .matrix thead th + th span { writing-mode: vertical-rl; transform: rotate(180deg); white-space: nowrap; display: inline-block; }
  .matrix td { text-align: center; min-width: 1.7rem; position: relative; }
  .matrix .region th { font-weight: 650; color: var(--soft); } .matrix .region td { background: var(--tint); }
  .v { background: var(--good-tint); color: var(--good); } .m { background: var(--warn-tint); color: var(--warn); font-weight: 700; }
  .r { color: var(--soft); background: var(--tint); } .u { color: var(--soft); }
  .graph path { fill: none; stroke: var(--ink); }
  .graph .went { stroke: var(--good); stroke-width: 2.2; } .graph .part { stroke: var(--good); stroke-width: 1.4; stroke-dasharray: 10 3; }
  .graph .not { stroke: var(--warn); stroke-width: 1.4; stroke-dasharray: 5 4; } .graph .spont { stroke: var(--device-edge); stroke-dasharray: 1.5 3; stroke-width: 1.4; }
  .graph marker path { stroke: none; fill: var(--device-edge); } .graph marker.went path, .graph marker.part path { fill: var(--good); } .graph marker.not path { fill: var(--warn); }
  .graph .statebox { fill: var(--card); stroke: var(--device-edge); } .graph .paper { fill: var(--paper); }
  .case .graph .paper { fill: var(--card); }
  .graph .here { fill: var(--bad-tint); stroke: var(--bad); stroke-width: 2; } .graph .held { fill: var(--model); stroke: var(--model-edge); }
  .graph .allowed { stroke: var(--good); stroke-width: 1.4; stroke-dasharray: 5 4; } .graph .no { stroke: var(--bad); stroke-width: 1.4; stroke-dasharray: 2 4; }
  .graph marker.allowed path { fill: var(--good); } .graph marker.no path { fill: var(--bad); }
  .graph .state { font-weight: 600; text-anchor: middle; } .graph .loops { fill: var(--soft); text-anchor: middle; }
  .graph.sample { display: inline-block; }

  .packetlist { list-style: none; padding: 0; font-size: .87rem; }
  .packetlist li { display: flex; flex-wrap: wrap; gap: 0 .5em; }
  .packetlist details { margin: 0; flex: 1; min-width: 0; }
  .packetlist .tie { padding-top: .1rem; }
  a.tie { text-decoration-style: dotted; text-underline-offset: .2em; }
  .packetlist li.lit, .packetlist li:target, .timeline tr.lit td, .timeline tr:target td { background: var(--warn-tint); }
  .packetlist span.num { color: var(--soft); padding-top: .1rem; }
  .packetlist .from { color: var(--soft); display: inline-block; min-width: 4.5em; }
  .linkevent { color: var(--warn); }
  .layers { display: flex; flex-wrap: wrap; gap: .2rem 2rem; padding: .2rem 0 .5rem 1.2rem; }
  .layers > * { min-width: 0; max-width: 100%; }
  .layers dl { display: grid; grid-template-columns: auto 1fr; gap: 0 .9rem; align-content: start; }

  footer { margin-top: 3rem; padding-bottom: 2rem; }
  @media (max-width: 40rem) {
    header.page, main, #filters, footer { padding-left: .8rem; padding-right: .8rem; }
    h1 { font-size: 1.45rem; }
    .case { padding: .6rem .7rem; }
    .fields label, .fields input, .fields select { flex: 1 1 8rem; max-width: 100%; width: 100%; }
    .keys { display: none; }
    .layers { padding-left: 0; }
    .cases th { min-width: 10rem; }
    .timeline { font-size: .8rem; } .timeline td:nth-child(4) { min-width: 8rem; }
    .timeline td:nth-child(2), .timeline td:nth-child(5) { min-width: 6rem; }
  }
  @media print {
    :root { color-scheme: light; --paper: #fff; --card: #fff; --tint: #f3f3f3; }
    body { font-size: 10.5pt; }
    #filters, .skip, .copy { display: none !important; }
    header.page, main, footer { max-width: none; padding: 0; }
    .case { content-visibility: visible; }
    .scroll { overflow: visible; }
    .lanes, .graph { max-width: 100%; height: auto; }
    tr, .replay, .head, summary { break-inside: avoid; }
    h2, h3, h4 { break-after: avoid; }
    details:not([open]) { color: var(--soft); }
    .packets, .whole { display: none; }
  }

  """
