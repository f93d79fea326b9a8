import type { HttpApp } from './http-app.ts';

/** One part that must work before traffic is wanted; the answer is `ok` or a word that says what is wrong. */
export type ReadinessCheck = () => Promise<string> | string;

export interface HealthOptions {
  checks: Readonly<Record<string, ReadinessCheck>>;
  now: () => Date;
  /** A check that takes longer is answered as `timeout`. */
  checkTimeoutMs?: number;
}

const plain = { tags: ['health'] };

/** `/healthz` and `/readyz`: public by nature, they say a word for each part and nothing of tenants. */
export function registerHealthRoutes(app: HttpApp, options: HealthOptions): void {
  const timeoutMs = options.checkTimeoutMs ?? 2_000;

  app.get('/healthz', { config: { public: true }, schema: { ...plain, summary: 'The process runs' } }, async () => ({
    status: 'ok',
    timestamp: options.now().toISOString(),
  }));

  app.get(
    '/readyz',
    { config: { public: true }, schema: { ...plain, summary: 'Every part that must work before traffic is wanted' } },
    async (request, reply) => {
      const results = await Promise.all(
        Object.entries(options.checks).map(async ([name, check]) => {
          return [
            name,
            await runCheck(check, timeoutMs, (error) => request.log.warn({ err: error, check: name }, 'not ready')),
          ] as const;
        }),
      );
      const ready = results.every(([, word]) => word === 'ok');
      return reply.status(ready ? 200 : 503).send({
        status: ready ? 'ready' : 'not_ready',
        checks: Object.fromEntries(results),
        timestamp: options.now().toISOString(),
      });
    },
  );
}

/** A probe must answer while a part hangs: that is when it is needed. */
async function runCheck(check: ReadinessCheck, timeoutMs: number, onFault: (error: unknown) => void): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), timeoutMs);
  });
  try {
    return await Promise.race([Promise.resolve().then(check), late]);
  } catch (error) {
    onFault(error);
    return 'failed';
  } finally {
    clearTimeout(timer);
  }
}
