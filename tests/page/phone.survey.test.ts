import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'flow.yaml': `
description: a long description of a flow that loads the orders of yesterday into the warehouse
tags: [daily, etl]
schedule: "0 2 * * *"
params: { DAY: "2026-03-01" }
steps:
  - name: extract the orders of yesterday from every shop
    command: echo one
  - name: load
    command: sh -c 'echo refused by the warehouse >&2; exit 3'
    depends: extract the orders of yesterday from every shop
`,
  'broken.yaml': `steps: [{name: one, comand: ${'echo '.repeat(40)}}]\n`,
  'ship.yaml': `
steps:
  - name: ship
    approval:
      prompt: Ship it to production?
      input:
        - { name: REGION, enum: [north, south], required: true, description: Where it goes first. }
        - { name: PERCENT, type: integer, default: 10, minimum: 1, maximum: 100 }
  - { name: announce, depends: ship, command: echo shipped }
`,
  'done.yaml': 'steps: [{name: one, command: echo one}]\n',
  'wait.yaml': 'steps: [{name: wait, command: sleep 600}]\n',
};

const phone = (width: number) => ({ viewport: { width, height: 720 }, isMobile: true, hasTouch: true });

/** Controls that are too small for a finger: 21 pixels above or below the centre, in a grid also beside it, is another element. */
const missedControls = `[...document.querySelectorAll('button, a.button, select, input, textarea, summary, nav a, .step-row, .row:not(.broken) .name, .grid a')]
  .filter((control) => control.closest('.log, .graph, .timeline, .sr') === null && control.checkVisibility({ visibilityProperty: true }))
  .flatMap((control) => {
    control.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const { x, width } = control.getBoundingClientRect();
    const { y, height } = (control.matches('.name') ? control.closest('.row') : control).getBoundingClientRect();
    const isHit = (dy, dx = 0) => {
      const hit = document.elementFromPoint(x + width / 2 + dx, y + height / 2 + dy);
      return hit !== null && (control.contains(hit) || control.closest('label, .field')?.contains(hit) === true);
    };
    const isWide = !control.matches('.grid a') || (isHit(0, -21) && isHit(0, 21));
    return isHit(-21) && isHit(21) && isWide ? [] : [control.outerHTML.slice(0, 120)];
  })`;

/** Names of runs that are cut although there is room for them. */
const cutNames = `[...document.querySelectorAll('.run-row .name')]
  .filter((name) => name.scrollWidth > name.clientWidth || name.offsetWidth < 30)
  .map((name) => name.textContent)`;

/** Texts that are cut: of actions, the reasons of steps, the times of the timeline. */
const cutTexts = `[...document.querySelectorAll('.actions button, .steps-pane .why, .steps-pane .scroll')]
  .filter((each) => each.scrollWidth > each.clientWidth)
  .map((each) => each.textContent)`;

/** The control with the focus, if other elements cover all of it. */
const coveredFocus = `(() => {
  const { activeElement } = document;
  if (activeElement === document.body || activeElement.closest('.canvas') !== null) return [];
  const { left, right, top, bottom } = activeElement.getBoundingClientRect();
  const isHit = (y) => {
    const hit = document.elementFromPoint((left + right) / 2, y);
    return activeElement.contains(hit) || hit?.contains(activeElement);
  };
  const first = Math.max(1, top + 1);
  const last = Math.min(innerHeight - 1, bottom - 1);
  return isHit(first) || isHit((first + last) / 2) || isHit(last) ? [] : [activeElement.outerHTML.slice(0, 120)];
})()`;

/**
 * In the browser: the middles and corners of controls. `fixed`: of those that stay in their place when the page scrolls, at
 * each scroll position; else of each control, scrolled to the middle of the screen. A control is `hit` where nothing covers it.
 */
const controlPoints = (isFixed: boolean) => `(() => {
  const pinned = (each) => {
    for (let at = each; at !== null; at = at.parentElement)
      if (['fixed', 'sticky'].includes(getComputedStyle(at).position) && !at.matches('.grid *, .log *, .timeline *')) return true;
    return false;
  };
  const controls = [...document.querySelectorAll('button, a.button, summary, .top-bar a')]
    .filter((each) => each.closest('.log, .canvas, .timeline, .sr, .skip') === null && !each.matches('.skip') && each.checkVisibility({ visibilityProperty: true }));
  const points = (control) => {
    const { left, right, top, bottom } = control.getBoundingClientRect();
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    // The corner of a rounded control is outside of it.
    const inset = 3 + 0.3 * Math.min(Number.parseFloat(getComputedStyle(control).borderRadius) || 0, (bottom - top) / 2);
    return [[x, y], ...[left + inset, right - inset].flatMap((x) => [top + inset, bottom - inset].map((y) => [x, y]))]
      .map(([x, y]) => {
        const on = document.elementFromPoint(x, y);
        return { x, y, name: control.textContent, isTapped: !control.matches('.top-bar *'), isHit: on !== null && control.contains(on), on: on?.outerHTML.slice(0, 80) };
      });
  };
  if (${isFixed}) return controls.filter(pinned).flatMap(points);
  const scrolled = scrollY;
  const found = controls.filter((each) => !pinned(each)).flatMap((control) => {
    control.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    return points(control);
  });
  scrollTo(0, scrolled);
  return found;
})()`;

type ControlPoint = {
  readonly x: number;
  readonly y: number;
  readonly name: string;
  readonly isTapped: boolean;
  readonly isHit: boolean;
  readonly on: string;
};

/** In the browser: records the control of each tap, which then does nothing. */
const recordTaps = `addEventListener('click', (event) => {
  event.preventDefault();
  event.stopImmediatePropagation();
  window.tapped = event.target.closest('button, a, summary')?.textContent ?? null;
}, true)`;

async function tappedAt(page: Page, { x, y }: ControlPoint): Promise<unknown> {
  await page.evaluate('window.tapped = undefined');
  await page.touchscreen.tap(x, y);
  return page.evaluate('window.tapped');
}

/** The points of a screen where a tap does not reach the control that is there. */
async function lostTaps(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  const told = ({ name, x, y, on }: ControlPoint) => `${name} (${Math.round(x)}, ${Math.round(y)}) is under ${on}`;
  const height = await page.evaluate<number>('document.documentElement.scrollHeight - innerHeight');
  for (const part of [0, 0.5, 1]) {
    await page.evaluate(`scrollTo({ top: ${part * height}, behavior: 'instant' })`);
    for (const point of await page.evaluate<ControlPoint[]>(controlPoints(true))) {
      // Chromium moves a tap at the edge of the bar at the top to the control that ends there.
      const tapped = point.isTapped ? await tappedAt(page, point) : point.name;
      if (!point.isHit || tapped !== point.name) found.push(`at ${part}: ${told(point)}, tapped ${tapped}`);
    }
  }
  const points = await page.evaluate<ControlPoint[]>(controlPoints(false));
  return [...found, ...points.filter(({ isHit }) => !isHit).map(told)];
}

/** In the browser: whether an element is inside of the window with its whole text. */
function isVisibleWhole(element: HTMLElement): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const isInside = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
  return isInside && element.scrollWidth <= element.clientWidth;
}

/** Loads an address with all that it asks for. */
async function goTo(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.waitForLoadState('networkidle');
}

const widthOf = (page: Page) => page.evaluate('document.documentElement.scrollWidth');

describeWith('chromium', browserPath !== null, 'the page on a phone', () => {
  it('has controls large enough for a finger, and scrolls in one direction', () =>
    withPage(files, async ({ open, start, daemon }) => {
      const first = await start('flow');
      await expect.poll(() => daemon.get(`/api/v2/runs/${first}`)).toContain('"status":"failed"');
      const runId = await start('flow');
      await expect.poll(() => daemon.get(`/api/v2/runs/${runId}`)).toContain('"status":"failed"');
      const paths = ['/', '/runs', '/system', '/w/flow', '/w/flow?tab=history', '/w/flow?tab=spec', '/w/flow/start'];
      const views = [
        '',
        '?view=steps',
        '?view=timeline',
        '?view=compare',
        '?step=load',
        '?step=load&tab=details',
        '?step=load&tab=source',
      ];
      const found: unknown[] = [];
      const page = await open('/', phone(390));
      for (const path of [...paths, ...views.map((view) => `/runs/${runId}${view}`)]) {
        await goTo(page, daemon.url + path);
        for (const width of [390, 320]) {
          await page.setViewportSize({ width, height: 720 });
          const cut = [await page.evaluate(cutNames), await page.evaluate(cutTexts)].flat();
          const missed = (await page.evaluate(missedControls)) as string[];
          const pageWidth = await widthOf(page);
          if (pageWidth !== width || cut.length > 0 || missed.length > 0)
            found.push({ path, width, pageWidth, cut, missed });
        }
      }
      expect(found).toEqual([]);
    }));

  it('gets every tap on the middle and the corners of a control', { timeout: 600_000 }, () =>
    withPage(files, async ({ open, start, stop, daemon }) => {
      const stateOf = (runId: string, text: string) =>
        expect.poll(() => daemon.get(`/api/v2/runs/${runId}`), { timeout: 60_000 }).toContain(text);
      const [failed, done, running, waiting] = [
        await start('flow'),
        await start('done'),
        await start('wait'),
        await start('ship'),
      ];
      await stateOf(failed, '"status":"failed"');
      await stateOf(done, '"status":"succeeded"');
      await stateOf(running, '"status":"running"');
      await stateOf(waiting, '"waitingFor":["ship"]');
      const paths = [
        ...['/', '/runs', '/system', '/w/flow', '/w/flow?tab=history', '/w/flow?tab=spec', '/w/flow/start', '/w/wait'],
        ...[`/runs/${failed}`, `/runs/${failed}?step=load`, `/runs/${done}`, `/runs/${done}?step=one`],
        ...[`/runs/${running}`, `/runs/${running}?step=wait`, `/runs/${waiting}`, `/runs/${waiting}?step=ship`],
        `/runs/${waiting}?step=announce`,
      ];
      const found: unknown[] = [];
      const page = await open('/', phone(390));
      for (const path of paths) {
        await goTo(page, daemon.url + path);
        await page.evaluate(recordTaps);
        for (const [width, height] of [
          [390, 844],
          [320, 568],
        ] as const) {
          await page.setViewportSize({ width, height });
          for (const lost of await lostTaps(page)) found.push(`${path} ${width}: ${lost}`);
        }
      }
      expect(found).toEqual([]);
      await stop(running);
      await stop(waiting);
    }),
  );

  it('answers an approval in the bar of actions, and stops the run beside it', () =>
    withPage(files, async ({ open, start, daemon }) => {
      const runId = await start('ship');
      const page = await open(`/runs/${runId}?pane=steps`, { ...phone(390), viewport: { width: 390, height: 844 } });
      const buttons = page.locator('.actions').locator('button:visible, a:visible');
      await page.getByRole('link', { name: 'Answer ship' }).waitFor();
      expect(await buttons.allTextContents()).toEqual(['Answer ship', 'Stop']);

      const answer = await page.getByRole('link', { name: 'Answer ship' }).boundingBox();
      await page.touchscreen.tap((answer?.x ?? 0) + 20, (answer?.y ?? 0) + (answer?.height ?? 0) - 2);
      await page.getByRole('button', { name: 'Reject' }).waitFor();
      expect(await buttons.allTextContents()).toEqual(['Approve', 'Reject', 'Stop']);
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(1);

      const box = await page.getByRole('button', { name: 'Stop', exact: true }).boundingBox();
      await page.touchscreen.tap((box?.x ?? 0) + 20, (box?.y ?? 0) + (box?.height ?? 0) - 2);
      await page.getByRole('dialog', { name: /^Stop ship/ }).waitFor();
      expect(await daemon.get(`/api/v2/runs/${runId}`)).toContain('"waitingFor":["ship"]');
      await page.getByRole('button', { name: 'Cancel' }).tap();
      await page.getByRole('button', { name: 'Reject' }).tap();
      await page.getByRole('dialog', { name: 'Reject ship?' }).waitFor();
      await page.getByRole('button', { name: 'Cancel' }).tap();
      await page.getByLabel('REGION', { exact: true }).selectOption('north');
      await page.getByLabel('Comment').fill('looks good');
      await page.getByRole('button', { name: 'Approve' }).tap();
      await expect.poll(() => daemon.get(`/api/v2/runs/${runId}`)).toContain('"status":"succeeded"');
      await expect.poll(() => daemon.get(`/api/v2/runs/${runId}/view`)).toContain('looks good');
    }));

  it('scrolls the lines of a broken file by a finger', () =>
    withPage(files, async ({ open }) => {
      const page = await open('/', phone(390));
      await page.locator('.frame mark').waitFor();
      const frame = page.locator('.frame');

      expect(await frame.evaluate((each) => each.scrollWidth > each.clientWidth)).toBe(true);
      const isOnTop = await frame.evaluate((each) => {
        const { left, top } = each.getBoundingClientRect();
        return each.contains(document.elementFromPoint(left + 100, top + 10));
      });
      expect(isOnTop).toBe(true);
    }));

  it('does not cover what has the focus on a small screen', () =>
    withPage(files, async ({ open, start, daemon }) => {
      const runId = await start('flow');
      await expect.poll(() => daemon.get(`/api/v2/runs/${runId}`)).toContain('"status":"failed"');
      const covered: unknown[] = [];
      const page = await open('/');
      for (const path of ['/', '/system', `/runs/${runId}?step=load`]) {
        await goTo(page, daemon.url + path);
        for (const viewport of [
          { width: 640, height: 400 },
          { width: 320, height: 200 },
        ]) {
          await page.setViewportSize(viewport);
          for (const key of ['Tab', 'Shift+Tab'])
            for (let press = 0; press < 30; press++) {
              await page.keyboard.press(key);
              covered.push(...(await page.evaluate<string[]>(coveredFocus)));
            }
        }
      }
      expect(covered).toEqual([]);
    }));

  it('opens menus inside of the screen', () =>
    withPage(files, async ({ open, start, daemon }) => {
      const runId = await start('flow');
      await expect.poll(() => daemon.get(`/api/v2/runs/${runId}`)).toContain('"status":"failed"');
      const page = await open(`/runs/${runId}?step=extract+the+orders+of+yesterday+from+every+shop`, phone(320));
      const items: { readonly text: string | null; readonly isVisible: boolean }[] = [];
      for (const name of ['More', 'More actions of the run', 'More actions of the step']) {
        await page.getByRole('button', { name, exact: true }).tap();
        for (const item of await page.getByRole('menuitem').all())
          items.push({ text: await item.textContent(), isVisible: await item.evaluate(isVisibleWhole) });
        await page.keyboard.press('Escape');
      }
      expect(items.length).toBeGreaterThan(6);
      expect(items.filter(({ isVisible }) => !isVisible)).toEqual([]);
    }));

  it('shows the steps or the selected step, with the actions of the run below', () =>
    withPage(files, async ({ open, start, stop }) => {
      const runId = await start('flow');
      const page = await open(`/runs/${runId}?view=steps`, phone(390));
      const [steps, pane] = [page.locator('.steps-pane'), page.locator('.step-pane')];
      await page
        .getByRole('button', { name: /^Retry/ })
        .first()
        .waitFor();
      await steps.waitFor();
      expect(await pane.isVisible()).toBe(false);
      await steps.getByRole('link', { name: /load/ }).tap();
      await pane.getByText('refused by the warehouse').waitFor();
      expect(await steps.isVisible()).toBe(false);
      expect(await accessibilityProblems(page)).toEqual([]);

      await page.getByRole('button', { name: 'All steps' }).tap();
      await steps.waitFor();
      expect(await pane.isVisible()).toBe(false);
      await page.reload();
      await page.getByRole('button', { name: 'Step load' }).tap();
      await pane.getByText('refused by the warehouse').waitFor();

      const waiting = await start('wait');
      const live = await open(`/runs/${waiting}`, phone(320));
      const box = await live.getByRole('button', { name: 'Stop' }).boundingBox();
      expect(Math.round((box?.y ?? 0) + (box?.height ?? 0))).toBeGreaterThan(700);
      await stop(waiting);
      const workflow = await open('/w/flow', phone(390));
      const button = await workflow.getByRole('link', { name: 'Start' }).boundingBox();
      expect([Math.round(button?.width ?? 0), Math.round((button?.y ?? 0) + (button?.height ?? 0))]).toEqual([
        366, 712,
      ]);
    }));
});
