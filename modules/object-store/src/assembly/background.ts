import type { CustomDomains } from '../domain/custom-domains/create-custom-domains.ts';
import { NotificationDispatcher } from '../domain/notifications/notification-dispatcher.ts';
import { Janitor } from '../domain/janitor.ts';
import { ReadFence } from '../domain/read-fence.ts';
import { KeyRotation } from '../domain/key-rotation/key-rotation.ts';
import { Scrubber } from '../domain/scrub/scrubber.ts';
import type { StoreServices } from '../domain/services.ts';
import { UsageRecorder } from '../domain/usage/usage-recorder.ts';
import type { ObjectStoreDependencies } from './dependencies.ts';

/** The store's background work: `run` repeats it until the signal, `round` does all of it once. */
export interface Background {
  run(signal: AbortSignal): Promise<unknown>;
  round(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Creates the background work without starting it. */
export function createBackground(
  { config, replicaId: holder, sharesDatabase = false, log, metrics, clock }: ObjectStoreDependencies,
  services: StoreServices,
  { worker: domains }: CustomDomains,
): Background {
  const { deps, notifications, configurations, lifecycle, forks, traffic } = services;
  const { metadata, blobs, secrets, hashing } = deps;
  const janitor = new Janitor(deps, services.credentials);
  const scrubber = new Scrubber({ metadata, blobs, kernel: hashing.kernels.crc, log, metrics, clock });
  const dispatcher = new NotificationDispatcher({ deps, configurations, notifications, metrics, holder });
  const rotation = new KeyRotation({ metadata, secrets, holder, log, clock });
  const usage = new UsageRecorder({ deps, traffic, holder });
  const { activeReads } = deps;
  const graceMs = config.trash_grace_seconds * 1_000;
  const fence = new ReadFence({ metadata, activeReads, holder, graceMs, clock, log });
  const leased = [lifecycle, forks, domains, dispatcher, usage, rotation];
  const { enabled: scrubs, cycle_days: days, bytes_per_second: bytesPerSecond } = config.scrub;
  return {
    run: (signal) =>
      Promise.all([
        janitor.run(signal),
        sharesDatabase ? fence.run(signal) : undefined,
        ...leased.map((work) => work.run(signal)),
        scrubs ? scrubber.run({ cycleMs: days * 86_400_000, bytesPerSecond }, signal) : undefined,
      ]),
    round: async (signal) => {
      await janitor.sweep();
      await janitor.round();
      for (const work of leased) await work.round(signal);
    },
    close: () => usage.close(),
  };
}
