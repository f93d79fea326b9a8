import { parseArgs } from 'node:util';
import { startKubernetes } from '../kubernetes/index.ts';
import { runPodKills } from './run.ts';

/**
 * `node test/pod-kills/main.ts --kills 300 [--seed N]`, as root; `--controls` tests the auditor instead. SIGTERM or SIGINT
 * ends it after the current round.
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '300' },
    seed: { type: 'string', default: '20261129' },
    controls: { type: 'boolean', default: false },
  },
});
const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
const kubernetes = await startKubernetes();
try {
  const findings = await runPodKills(kubernetes, {
    kills: Number(values.kills),
    seed: Number(values.seed),
    controls: values.controls,
    say: (line) => process.stdout.write(`${line}\n`),
    stop: stop.signal,
  });
  process.exitCode = findings.length === 0 ? 0 : 1;
} finally {
  await kubernetes.stop();
}
