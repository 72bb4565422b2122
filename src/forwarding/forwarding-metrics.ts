import type { ForwardCounts } from './forward-queue.ts';

const results = ['queued', 'forwarded', 'dropped', 'failed', 'retried'] as const;

/** The counts in the text format of Prometheus, under names that existing dashboards know but for their prefix. */
export async function createForwardingMetrics(
  prefix: string,
  counts: ForwardCounts,
): Promise<{ readonly contentType: string; readonly text: string }> {
  const { Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, value: number) =>
    new Gauge({ name: `${prefix}_log_forwarding_${name}`, help, registers }).set(value);
  gauge('queue_depth', 'Records that wait, those on their way included.', counts.queueDepth);
  gauge('queue_capacity', 'The most records that can wait.', counts.queueCapacity);
  gauge('sink_closed', 'Whether the sink takes no more records (1) or does (0).', counts.closed ? 1 : 0);
  const name = `${prefix}_log_forwarding_records_total`;
  const help = 'Records by what became of them.';
  const records = new Counter({ name, help, labelNames: ['result'], registers });
  for (const result of results) records.inc({ result }, counts[result]);
  return { contentType: registry.contentType, text: await registry.metrics() };
}
