/** One metric: its type, and its values by their labels as written (`result="queued"`). */
export type Metric = { readonly type: string; readonly samples: Readonly<Record<string, number>> };

type Metrics = Record<string, { type: string; samples: Record<string, number> }>;

/**
 * Reads the text format of Prometheus; of a histogram `x` the parts are `x_bucket`, `x_sum` and `x_count`. Throws for a line that
 * is none of it, for a sample without HELP and TYPE, and for one that is there twice.
 */
export function parsePrometheus(text: string): Readonly<Record<string, Metric>> {
  const metrics: Metrics = {};
  const helped = new Set<string>();
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  for (const line of text.split('\n')) {
    const [, help] = /^# HELP ([a-zA-Z_:][\w:]*) \S.*$/.exec(line) ?? [];
    const [, typed, type = ''] = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/.exec(line) ?? [];
    const [, name = '', labels = '', value = ''] =
      /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="[^"\\\n]*",?)*)\})? (\d+(?:\.\d+)?(?:e-\d+)?)$/.exec(line) ?? [];
    if (help) helped.add(help);
    else if (typed) announce(metrics, typed, type, helped);
    else if (name !== '') addSample(metrics, { name, labels, value: Number(value) });
    else if (line !== '') throw new Error(`not a line of metrics: ${line}`);
  }
  return metrics;
}

function announce(metrics: Metrics, name: string, type: string, helped: ReadonlySet<string>): void {
  if (!helped.has(name)) throw new Error(`nobody says what "${name}" is`);
  const parts = type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
  for (const part of parts) {
    if (part in metrics) throw new Error(`"${name}" is announced twice`);
    metrics[part] = { type, samples: {} };
  }
}

type Sample = { readonly name: string; readonly labels: string; readonly value: number };

function addSample(metrics: Metrics, { name, labels, value }: Sample): void {
  const metric = metrics[name];
  if (metric === undefined) throw new Error(`"${name}" was not announced`);
  if (labels in metric.samples) throw new Error(`"${name}{${labels}}" is there twice`);
  metric.samples[labels] = value;
}
