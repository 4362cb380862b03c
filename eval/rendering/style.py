"""The style of the pages: light and dark by the reader's setting, from a phone's width on."""

from __future__ import annotations

# Blue, vermilion, green and purple after Okabe and Ito (2008), darker on light and lighter on dark
# so that each stands out from the ground by at least 4.5 to 1.
STYLE = (
    """
:root{color-scheme:light dark;--ground:#fff;--raised:#f5f6f8;--ink:#1b1f24;--soft:#57606a;
--edge:#d5d9de;--link:#0b5cad;--s0:#0067a8;--s1:#b84700;--s2:#00734f;--s3:#9a3b80;--s4:#7a5c00;
--s5:#4a4f57;--good:#00734f;--bad:#b3261e;--warm:#7a5c00;--hit:#fff3c4;--hitedge:#c79a00;
--p0:#0067a8;--p1:#e0a100;--p2:#b7bec6}
@media(prefers-color-scheme:dark){:root{--ground:#14171b;--raised:#1e2329;--ink:#e6e9ed;
--soft:#a3acb7;--edge:#39414a;--link:#7cb8ff;--s0:#5fb4f0;--s1:#f0915a;--s2:#3ecf9c;--s3:#e08fca;
--s4:#e3c04b;--s5:#b6bec8;--good:#3ecf9c;--bad:#ff8b80;--warm:#e3c04b;--hit:#3a3212;
--hitedge:#d9ab1c;--p0:#5fb4f0;--p1:#d9ab1c;--p2:#59636e}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Noto Sans CJK SC",sans-serif}
main,header,nav.toc{max-width:1180px;margin:0 auto;padding:0 16px}
header{padding-top:20px}h1{font-size:1.6rem;line-height:1.25;margin:.2em 0}
h2{font-size:1.25rem;margin:2em 0 .4em;padding-top:.4em;border-top:1px solid var(--edge)}
h3{font-size:1.02rem;margin:1.2em 0 .3em}p{max-width:76ch;margin:.5em 0}
a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.toc{display:flex;flex-wrap:wrap;gap:2px 16px;margin-top:8px;font-size:.94rem}
.toc a{padding:4px 0}.soft,figcaption,.ci{color:var(--soft)}.ci{font-size:.86em}
td .ci{display:block}
.scroll{overflow-x:auto;margin:.6em 0 1em;border:1px solid var(--edge);border-radius:8px}
table{border-collapse:separate;border-spacing:0;font-size:.9rem;font-variant-numeric:tabular-nums;min-width:100%}
th,td{padding:6px 12px;text-align:right;white-space:nowrap;vertical-align:top;
border-top:1px solid var(--edge)}
thead th{border-top:0;background:var(--raised);font-weight:600;vertical-align:bottom}
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--ground)}
thead th:first-child{background:var(--raised)}
.words{text-align:left}td.words{white-space:normal;min-width:12em}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:16px;
align-items:start}
.charts figure:only-child{max-width:600px}
figure{margin:.6em 0;border:1px solid var(--edge);border-radius:8px;padding:12px;min-width:0}
figcaption{font-weight:600;color:var(--ink);font-size:.95rem}
svg{display:block;width:100%;height:auto;max-width:500px;margin:4px auto;color:var(--ink)}
svg text{font:11px system-ui,sans-serif;fill:var(--soft)}svg .n{fill:var(--ink);font-weight:600}
svg .halo{fill:var(--ink);paint-order:stroke;stroke:var(--ground);stroke-width:3px}
svg .g{stroke:var(--edge);stroke-width:.7}svg .a{stroke:var(--soft);stroke-width:1}
svg .f{fill:none;stroke:var(--soft);stroke-width:1.4;stroke-dasharray:4 3}
svg .w{stroke-width:1.6}svg .c{fill:none;stroke-width:1.8}
svg .m{stroke:var(--ground);stroke-width:.8}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 16px;padding:0;margin:4px 0;
font-size:.88rem}.legend svg{display:inline-block;width:14px;height:14px;margin:0 5px -2px 0}
details{margin:.5em 0}summary{cursor:pointer;padding:6px 0;min-height:32px}
details.fold{border:1px solid var(--edge);border-radius:8px;padding:2px 12px}
details.fold>summary{font-weight:600}
pre{overflow:auto;background:var(--raised);padding:12px;border-radius:8px;font-size:.82rem;
max-height:70vh}
.card{border:1px solid var(--edge);border-radius:8px;padding:2px 12px;margin:.5em 0}
.card .q{font-weight:600}.id{font:.85em ui-monospace,monospace;color:var(--soft)}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,330px),1fr));gap:16px}
.side{min-width:0}.side h4{margin:.6em 0 .2em;font-size:.95rem}
.answer{background:var(--raised);border-radius:6px;padding:6px 10px;margin:.3em 0;
overflow-wrap:anywhere}
.v{display:inline-block;border:1px solid currentColor;border-radius:10px;padding:0 8px;
font-size:.8rem;font-weight:600;white-space:nowrap}.v.right{color:var(--good)}
.v.wrong,.v.error{color:var(--bad)}.v.none,.v.abstained{color:var(--warm)}
ol.memories{padding-left:1.6em;margin:.3em 0;font-size:.9rem}
ol.memories li,ul.missed li{margin:.35em 0;padding:2px 6px;border-left:3px solid transparent;
overflow-wrap:anywhere}ul.missed{padding-left:1.2em;margin:.3em 0;font-size:.9rem}
li.hit{background:var(--hit);border-left-color:var(--hitedge)!important;border-radius:4px}
.tag{font-size:.78rem;font-weight:600}.tag.e{color:var(--s3)}.tag.h{color:var(--warm)}
@media(max-width:520px){th,td{padding:5px 8px}h1{font-size:1.35rem}
main,header,nav.toc{padding:0 12px}}
@media print{details>*{display:block}.scroll{overflow:visible}}
"""
    + "".join(
        f"svg .s{i}{{stroke:var(--s{i})}}svg .m.s{i}{{fill:var(--s{i});stroke:var(--ground)}}"
        for i in range(6)
    )
    + "".join(f"svg .p{i}{{fill:var(--p{i})}}" for i in range(3))
)
