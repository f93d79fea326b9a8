import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { answered, readRecords, type Api } from './api.ts';
import type { Campaign } from './campaign.ts';
import { controlGroups, firewallTables, links, attachedFiles, processes, slots } from './machine.ts';
import { namesIn } from './ground.ts';

/** Starts every sandbox so that all files can be read, then deletes everything and stops the platform. */
export async function finish(campaign: Campaign): Promise<string[]> {
  const { api, dataFolder } = await campaign.audited();
  const { journal } = campaign;
  for (const sandbox of journal.sandboxes) {
    await answered(api('POST', `/api/containers/${sandbox.id}/start?wait_ms=30000`));
    sandbox.states = new Set(['running']);
  }
  const findings = await campaign.audit();
  await deleteAll(api);
  for (const known of [...journal.sandboxes, ...journal.snapshots, ...journal.volumes]) known.existence = 'gone';
  findings.push(...(await campaign.audit()));
  if (!(await campaign.stopPlatform())) findings.push('the platform did not end by itself');
  return [...findings, ...remains(dataFolder, campaign.runFolder)];
}

async function deleteAll(api: Api): Promise<void> {
  const { sandboxes, snapshots, volumes } = await readRecords(api);
  for (const { id } of sandboxes) await answered(api('DELETE', `/api/containers/${id}`));
  for (const { id } of snapshots) await answered(api('DELETE', `/api/snapshots/${id}`));
  for (const { name } of volumes) await answered(api('DELETE', `/api/volumes/${name}`));
}

/** Returns what is left after the last platform ended, including warm sandboxes; must be empty. */
function remains(dataFolder: string, runFolder: string): string[] {
  const own = new Set([1, process.pid]);
  const folders = ['disks', 'snapshots', 'volumes'].map((name) => join(dataFolder, 'sandboxes', name));
  return [
    ...processes()
      .filter(({ pid }) => !own.has(pid))
      .map(({ pid, command }) => `process ${pid}: ${command}`),
    ...[...controlGroups().of.keys()].map((id) => `control group of ${id}`),
    ...links().map((name) => `link ${name}`),
    ...firewallTables().filter((line) => line !== 'table inet svc_forwarding'),
    ...attachedFiles(dataFolder).map((file) => `attached disk ${file}`),
    ...[...slots(runFolder).keys()].map((slot) => `slot ${slot}`),
    ...folders.flatMap((folder) => namesIn(folder).map((name) => join(folder, name))),
    ...(existsSync(runFolder) ? [`run folder ${runFolder}`] : []),
  ].map((each) => `${each} is left over at the end`);
}
