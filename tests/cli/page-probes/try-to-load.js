// What becomes of an image, a request and a script that a page tries to add to itself.
(async () => {
  const image = new Promise((resolve) => {
    const element = document.body.appendChild(document.createElement('img'));
    element.onload = () => resolve('loaded');
    element.onerror = () => resolve('refused');
    element.src = 'image.svg';
  });
  const script = document.body.appendChild(document.createElement('script'));
  script.textContent = 'globalThis.executed = 3';
  const request = fetch('image.svg').then(
    () => 'answered',
    () => 'refused',
  );
  return [await image, await request, globalThis.executed];
})();
