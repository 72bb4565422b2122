// Convenience only: without it the page shows everything too.
(() => {
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target === null) return;
    for (let part = target.closest('details'); part !== null; part = part.parentElement.closest('details'))
      part.open = true;
    target.scrollIntoView();
  };
  addEventListener('hashchange', reveal);
  addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link !== null && link.getAttribute('href') === location.hash) reveal();
  });
  reveal();

  const steps = [...document.querySelectorAll('.step')];
  const tools = document.querySelector('.tools');
  if (tools === null || steps.length === 0) return;
  const add = (tag, properties) => tools.appendChild(Object.assign(document.createElement(tag), properties));

  const search = add('input', { type: 'search', placeholder: 'Find a step', ariaLabel: 'Find a step by its name' });
  const select = add('select', { ariaLabel: 'Only steps of a status' });
  select.append(new Option('every status', ''));
  const words = new Map(steps.map((step) => [step.dataset.status, step.querySelector('.sr').textContent.slice(2)]));
  for (const [status, word] of words) select.append(new Option(word, status));
  const filter = () => {
    const wanted = search.value.trim().toLowerCase();
    for (const row of document.querySelectorAll('[data-name]')) {
      const isNamed = row.dataset.name.toLowerCase().includes(wanted);
      row.hidden = !isNamed || (select.value !== '' && row.dataset.status !== select.value);
    }
  };
  search.addEventListener('input', filter);
  select.addEventListener('change', filter);

  const setAll = (isOpen) => {
    for (const step of steps) if (!step.hidden) step.open = isOpen;
  };
  add('button', { type: 'button', textContent: 'Open all' }).addEventListener('click', () => setAll(true));
  add('button', { type: 'button', textContent: 'Close all' }).addEventListener('click', () => setAll(false));
  const label = add('label', {});
  const wrap = Object.assign(document.createElement('input'), { type: 'checkbox' });
  label.append(wrap, ' Wrap long lines');
  wrap.addEventListener('change', () => document.body.classList.toggle('wrap', wrap.checked));
  tools.hidden = false;
})();
