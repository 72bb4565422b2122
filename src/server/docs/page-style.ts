/** How the page of the API looks, in the light and in the dark. */
export const pageStyle = `
:root{color-scheme:light dark;--text:#1c2128;--soft:#59636e;--line:#d1d9e0;--back:#fff;--block:#f6f8fa;--link:#0550ae;--ok:#1a7f37;--error:#b3261e;--get:#0550ae;--post:#1a7f37;--delete:#b3261e}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--soft:#9da7b3;--line:#3d444d;--back:#0d1117;--block:#161b22;--link:#6cb6ff;--ok:#57ab5a;--error:#ff7b72;--get:#6cb6ff;--post:#57ab5a;--delete:#ff7b72}}
*{box-sizing:border-box}
body{margin:0;display:grid;grid-template-columns:19rem minmax(0,1fr);font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--back)}
nav{position:sticky;top:0;height:100vh;overflow-y:auto;padding:1rem 1.25rem;border-right:1px solid var(--line);font-size:14px}
nav .home{margin:0 0 .5rem}
nav h2{font-size:12px;margin:1rem 0 .25rem;color:var(--soft);text-transform:uppercase;letter-spacing:.04em}
nav ul{list-style:none;margin:0;padding:0}
nav li{padding:.1rem 0}
a{color:var(--link);text-decoration:none}
a:hover,a:focus-visible{text-decoration:underline}
main{padding:1.5rem 2.5rem 4rem;max-width:62rem}
h1{font-size:1.7rem;margin:.25rem 0 1rem}
section>h2{font-size:1.3rem;margin:2.5rem 0 .25rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}
article{margin:1.5rem 0 2.25rem}
h3{font-size:1.05rem;margin:0 0 .25rem;scroll-margin-top:1rem}
h4{font-size:.85rem;margin:1rem 0 .3rem;color:var(--soft)}
p{margin:.4rem 0}
.summary{font-weight:600}
.needs{color:var(--soft)}
.method{display:inline-block;min-width:3.4rem;font-size:.8rem;font-weight:700}
.get{color:var(--get)}.post,.put{color:var(--post)}.delete{color:var(--delete)}
code,pre{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{overflow-wrap:anywhere}
pre{background:var(--block);border:1px solid var(--line);border-radius:6px;padding:.75rem;overflow:auto;max-height:26rem;margin:.4rem 0}
table{border-collapse:collapse;width:100%;margin:.25rem 0;font-size:14px}
th,td{border:1px solid var(--line);padding:.3rem .5rem;text-align:left;vertical-align:top}
th{background:var(--block);font-weight:600;font-size:13px}
td:first-child>code{white-space:nowrap}
.errors{margin:.4rem 0}
dl{display:grid;grid-template-columns:3rem minmax(0,1fr);gap:.25rem .5rem;margin:0}
dt{font-weight:700}dd{margin:0}
.ok{color:var(--ok)}.error{color:var(--error)}
.kind{font-size:14px;color:var(--soft)}
summary{cursor:pointer;font-size:14px;color:var(--soft)}
@media (max-width:52rem){body{display:block}nav{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line)}main{padding:1rem 1rem 3rem}td,th{padding:.25rem .35rem}table{display:block;overflow-x:auto}}
@media print{nav{display:none}body{display:block}}
`;
