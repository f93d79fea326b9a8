import type { HttpApp } from './http-app.ts';

/** Checks a dependency for readiness. Returns `ok` or a word that describes the problem. */
export type ReadinessCheck = () => Promise<string> | string;

/** Options of the health routes. */
export interface HealthOptions {
  checks: Readonly<Record<string, ReadinessCheck>>;
  /** Dependencies of every replica: reported, but a failure leaves this replica ready. */
  shared?: Readonly<Record<string, ReadinessCheck>>;
  now: () => Date;
  /** Slower checks report `timeout`. Defaults to 2000. */
  checkTimeoutMs?: number;
}

const plain = { tags: ['health'] };

/** Registers `/healthz` and `/readyz`. Both are public and return one word per check, without tenant data. */
export function registerHealthRoutes(app: HttpApp, options: HealthOptions): void {
  const timeoutMs = options.checkTimeoutMs ?? 2_000;

  app.get(
    '/healthz',
    { config: { public: true }, schema: { ...plain, summary: 'Check that the process is running' } },
    async () => ({
      status: 'ok',
      timestamp: options.now().toISOString(),
    }),
  );

  app.get(
    '/readyz',
    { config: { public: true }, schema: { ...plain, summary: 'Check all components required to serve traffic' } },
    async (request, reply) => {
      const run = async (checks: HealthOptions['checks']): Promise<Record<string, string>> => {
        const results = Object.entries(checks).map(async ([name, check]) => {
          const onFault = (error: unknown): void => request.log.warn({ err: error, check: name }, 'not ready');
          return [name, await runCheck(check, timeoutMs, onFault)] as const;
        });
        return Object.fromEntries(await Promise.all(results));
      };
      const [checks, shared] = await Promise.all([run(options.checks), run(options.shared ?? {})]);
      const ready = Object.values(checks).every((word) => word === 'ok');
      if (!ready) reply.header('retry-after', '1');
      return reply.status(ready ? 200 : 503).send({
        status: ready ? 'ready' : 'not_ready',
        checks,
        shared,
        timestamp: options.now().toISOString(),
      });
    },
  );
}

/** Bounds a check: a probe must answer even if a dependency hangs. */
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
