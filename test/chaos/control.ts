import { waitFor } from '@svc/testing';
import { runCampaign, type CampaignOptions } from './campaign.ts';
import type { CommandRecord } from './records.ts';
import { idlePod, manifestOf } from './workload.ts';
import { NAMESPACE, WORKER, type World } from './world.ts';

const UNHEARD = 'unheard';
const UNKNOWN = 'cmd-000000000000';
/** One for each planted error. */
const EXPECTED: readonly RegExp[] = [
  new RegExp(`^exec line-unknown \\(${UNKNOWN}\\): its result is lost$`),
  /^object .* came 2 times$/,
  /^journal line .* came 2 times$/,
  new RegExp(`^event pod_created pod/${UNHEARD} is lost$`),
];

/**
 * A round without faults in which a result and an event are lost and two things are done twice. Returns which of those
 * the checker missed and what else it found. The planted lines stay in the world, so this must be the last round.
 */
export async function runControl(
  world: World,
  options: Pick<CampaignOptions, 'seed' | 'signal' | 'onStage'>,
): Promise<{ missed: string[]; others: string[] }> {
  const { findings } = await runCampaign(world, {
    ...options,
    faults: 0,
    round: 'control',
    unheard: [UNHEARD],
    interfere: (commands) => plant(world, commands),
  });
  return {
    missed: EXPECTED.filter((each) => !findings.some((finding) => each.test(finding))).map(({ source }) => source),
    others: findings.filter((finding) => !EXPECTED.some((each) => each.test(finding))),
  };
}

async function plant(world: World, commands: CommandRecord[]): Promise<void> {
  const { api, client, kubernetes } = world;
  const done = async (kind: CommandRecord['kind']): Promise<CommandRecord> => {
    const record = await waitFor(() => commands.find((each) => each.kind === kind && each.id !== null));
    await waitFor(async () => record.id !== null && (await api.command(record.id))?.status === 'succeeded');
    return record;
  };
  const deploy = await done('deploy');
  const line = await done('exec');
  const object = {
    ...(JSON.parse(manifestOf(deploy.name)) as { metadata: object }),
    apiVersion: 'v1',
    kind: 'ConfigMap',
  };
  await client.create({ ...object, metadata: { name: deploy.name, namespace: NAMESPACE } });
  const again = `echo ${line.name} >> /tmp/journal`;
  await kubernetes.kubectl('-n', NAMESPACE, 'exec', WORKER, '--', 'sh', '-c', again);
  await client.create(idlePod(UNHEARD, {})); // belongs to no project: the agent does not report it
  commands.push({ ...line, name: 'line-unknown', id: UNKNOWN, seen: null });
}
