/**
 * `node test/chaos/main.ts [--faults 1000] [--seed N] [--round 250] [--log FILE]`: random faults on the link between an
 * agent and its platform and on both processes, while commands, logs and events pass. Exit code 1 = something was lost
 * or done twice, or the control at the end shows that the checker would have missed it. SIGTERM and SIGINT end the
 * round, whose figures still count.
 */
import { appendFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { runCampaign, type CampaignReport } from './campaign.ts';
import { runControl } from './control.ts';
import { openWorld } from './world.ts';

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    round: { type: 'string', default: '250' },
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
    timed_out: withStatus('timed_out'),
    events: records.podsCreated.size + records.podsDeleted.size,
    log_lines: records.logs.reduce((sum, { numbers }) => sum + numbers.length, 0),
    findings: findings.length,
  };
}

/** Faults per progress line, which shows the pace and the commands in flight. */
const FAULTS_IN_A_LINE = 25;

await note({ seed, faults });
const world = await openWorld((line) => process.stderr.write(`${line}\n`));
const onStage = (stage: string): void => void note({ stage });
let findings = 0;
let done = 0;
let inFlight = 0;
try {
  for (let round = 0; done < faults && !stop.signal.aborted; round += 1) {
    const before = done;
    const startedAtMs = Date.now();
    const report = await runCampaign(world, {
      faults: Math.min(perRound, faults - done),
      seed: seed + 2 * round,
      round: String(round),
      signal: stop.signal,
      onStage,
      onFault: (index, _fault, commands) => {
        inFlight += commands;
        const number = before + index + 1;
        if (number % FAULTS_IN_A_LINE !== 0) return;
        const seconds = Math.round((Date.now() - startedAtMs) / 1000);
        void note({ faults: number, of: faults, seconds_of_round: seconds, commands_in_flight: inFlight / number });
      },
    });
    done += report.inflicted;
    findings += report.findings.length;
    for (const finding of report.findings) await note({ finding });
    await note({ round, seconds: Math.round((Date.now() - startedAtMs) / 1000), ...figuresOf(report) });
    if (report.findings.length > 0) await note({ agent_log: world.agent.log.slice(-20_000) });
  }
  const control = await runControl(world, { seed: seed - 1, signal: stop.signal, onStage });
  await note({ control });
  findings += control.missed.length + control.others.length;
  await note({ faults: done, findings });
} catch (error) {
  // A world that never recovered is a finding too, and earlier findings still count.
  findings += 1;
  await note({ broke: String(error), agent_log: world.agent.log.slice(-20_000) });
} finally {
  await world.close();
}
process.exitCode = findings > 0 ? 1 : 0;
