import { noForwarding } from '@svc/http';
import type { Kysely } from 'kysely';
import { SandboxAccess } from '../domain/access/sandbox-access.ts';
import { VolumeAccess } from '../domain/access/volume-access.ts';
import type { SandboxContext } from '../domain/context.ts';
import type { EventRecorder } from '../domain/events/event-recorder.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import type { TerminalPlaces } from '../domain/terminal/terminal-places.ts';
import type { Tickets } from '../domain/tickets.ts';
import { createCallerLimiter, perMinute } from '../routes/per-minute.ts';
import { createSandboxAccessRepository, createVolumeAccessRepository } from '../store/access-repository.ts';
import type { SandboxTables } from '../store/tables.ts';
import type { SandboxesDependencies } from './dependencies.ts';
import { createE2bPart } from './e2b-module.ts';
import { createPreviewPart } from './preview-module.ts';
import { createSsh, createSshRelays } from './ssh-module.ts';
import { createHub, createSlots } from './terminal-module.ts';

interface ConnectionParts {
  readonly kysely: Kysely<SandboxTables>;
  readonly context: SandboxContext;
  readonly service: SandboxService;
  readonly tickets: Tickets;
  readonly recorder: EventRecorder;
  readonly places: TerminalPlaces;
  readonly access: SandboxAccess;
  readonly volumeAccess: VolumeAccess;
}

/** Tokens of sandboxes and volumes, the same on every node. */
export function createAccess(
  { previewKey }: SandboxesDependencies,
  kysely: Kysely<SandboxTables>,
  { clock, random }: SandboxContext,
) {
  const shared = { key: previewKey, clock, random };
  return {
    access: new SandboxAccess({ repository: createSandboxAccessRepository(kysely), ...shared }),
    volumeAccess: new VolumeAccess({ repository: createVolumeAccessRepository(kysely), ...shared }),
  };
}

/** Creates the ways into a running sandbox that stay open: terminals, previews and SSH. They share their limits. */
export async function createConnections(deps: SandboxesDependencies, parts: ConnectionParts) {
  const { kysely, context, service, tickets, recorder, places, access: sandboxAccess, volumeAccess } = parts;
  const { config, forwarding = noForwarding } = deps;
  const slots = createSlots(deps, context, places);
  const perCaller = perMinute(config.max_terminals_per_minute, context.clock, deps.replicas ?? (() => 1));
  const limiter = createCallerLimiter({ perCaller, quotaLimits: context.quotaLimits });
  const hub = createHub(deps, context, service, tickets, recorder, limiter, slots);
  const domain = config.preview_domain;
  const previews = createPreviewPart({ ...deps, sandboxAccess, forwarding, kysely, context, service, domain });
  const shared = { limiter, slots, ports: previews.open, recorder };
  const ssh = await createSsh(deps, context, service, shared);
  const sshRelays = createSshRelays(deps, context, service, shared);
  const { secureUrl, publicUrl, previewKey: key, apiKeys: keys } = deps;
  const { traffic } = previews;
  const accesses = { access: sandboxAccess, volumeAccess };
  const e2b = createE2bPart({ context, ...accesses, keys, traffic, domain, secureUrl, publicUrl, key });
  const close = async (): Promise<void> => {
    e2b.close();
    previews.close();
    sshRelays.drain();
    await Promise.all([ssh?.close(), hub.close()]);
    await slots.settled();
  };
  return { hub, previews, e2b, ssh, sshRelays, close };
}
