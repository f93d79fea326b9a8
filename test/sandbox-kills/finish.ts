import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { answered, readRecords, type Api } from './api.ts';
import { cachesIn, expireCaches, unusedLayers } from './audit-templates.ts';
import type { Campaign } from './campaign.ts';
import { controlGroups, firewallTables, links, attachedFiles, processes, slots } from './machine.ts';
import { namesIn } from './ground.ts';

const CACHES_LIMIT_MS = 20_000;
const LOOK_EVERY_MS = 100;

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
  const { sandboxes, snapshots, volumes, templates } = journal;
  for (const known of [...sandboxes, ...snapshots, ...volumes, ...templates]) known.existence = 'gone';
  findings.push(...(await campaign.audit()), ...unusedLayers(dataFolder));
  findings.push(...(await stopped(campaign)), ...(await withoutCaches(campaign, dataFolder)));
  return [...findings, ...(await stopped(campaign)), ...remains(dataFolder, campaign.runFolder)];
}

async function stopped(campaign: Campaign): Promise<string[]> {
  return (await campaign.stopPlatform()) ? [] : ['the platform did not end by itself'];
}

/** A platform that starts when layers and uploaded files were unused for long removes them. */
async function withoutCaches(campaign: Campaign, dataFolder: string): Promise<string[]> {
  expireCaches(dataFolder);
  campaign.journal.uploads.clear();
  await campaign.audited(); // starts the platform
  const deadline = performance.now() + CACHES_LIMIT_MS;
  while (cachesIn(dataFolder).length > 0 && performance.now() < deadline) await delay(LOOK_EVERY_MS);
  return campaign.audit();
}

async function deleteAll(api: Api): Promise<void> {
  const { sandboxes, snapshots, volumes, templates } = await readRecords(api);
  for (const { id } of sandboxes) await answered(api('DELETE', `/api/containers/${id}`));
  for (const { id } of snapshots) await answered(api('DELETE', `/api/snapshots/${id}`));
  for (const { name } of volumes) await answered(api('DELETE', `/api/volumes/${name}`));
  for (const { name } of templates) await answered(api('DELETE', `/api/templates/${name}`));
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
    ...cachesIn(dataFolder),
    ...folders.flatMap((folder) => namesIn(folder).map((name) => join(folder, name))),
    ...(existsSync(runFolder) ? [`run folder ${runFolder}`] : []),
  ].map((each) => `${each} is left over at the end`);
}
