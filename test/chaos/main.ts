/**
 * `node test/chaos/main.ts [--faults 1000] [--seed N] [--round 100] [--log FILE]`: random faults on the link between an
 * agent and its platform and on both processes, while commands, logs and events pass. Exit code 1 = something was lost,
 * or done twice. SIGTERM and SIGINT end the round, whose figures still count.
 */
import { appendFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { runCampaign, type CampaignReport } from './campaign.ts';
import { openWorld } from './world.ts';

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    round: { type: 'string', default: '100' },
    log: { type: 'string' },
  },
});
const faults = Number(values.faults);
const perRound = Number(values.round);
const seed = Number(values.seed);
if (![faults, perRound, seed].every((each) => Number.isSafeInteger(each) && each > 0)) {
  process.stderr.write('--faults, --round and --seed are whole numbers above 0\n');
  process.exit(2);
}
const stop = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stop.abort());

async function note(entry: object): Promise<void> {
  const line = `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`;
  process.stderr.write(line);
  if (values.log !== undefined) await appendFile(values.log, line);
}

function figuresOf({ records, inflicted, findings }: CampaignReport): Record<string, number> {
  const withStatus = (status: string): number => records.commands.filter(({ seen }) => seen?.status === status).length;
  return {
    faults: inflicted,
    agent_kills: records.agentKilledAtMs.length,
    commands: records.commands.length,
    succeeded: withStatus('succeeded'),
    lost_to_a_kill: withStatus('lost'),
    events: records.podsCreated.size + records.podsDeleted.size,
    log_lines: records.logs.reduce((sum, { numbers }) => sum + numbers.length, 0),
    findings: findings.length,
  };
}

await note({ seed, faults });
const world = await openWorld((line) => process.stderr.write(`${line}\n`));
let findings = 0;
try {
  for (let done = 0, round = 0; done < faults && !stop.signal.aborted; round += 1) {
    const report = await runCampaign(world, {
      faults: Math.min(perRound, faults - done),
      seed: seed + 2 * round,
      round: String(round),
      signal: stop.signal,
      onFault: (index, fault) => void note({ fault, number: done + index + 1 }),
    });
    done += report.inflicted;
    findings += report.findings.length;
    for (const finding of report.findings) await note({ finding });
    await note({ round, ...figuresOf(report) });
    if (report.findings.length > 0) await note({ agent_log: world.agent.log.slice(-20_000) });
  }
} finally {
  await world.close();
}
process.exitCode = findings > 0 ? 1 : 0;
