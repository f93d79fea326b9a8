import type { Logger } from '@svc/telemetry';
import { runTool } from '../../../images/run-tool.ts';
import type { Machine } from '../machine.ts';
import { EgressGuard } from './egress-guard.ts';
import { linkOf } from './egress-rules.ts';

const NFT_LIMIT_MS = 5000;

export interface LocalEgressOptions {
  readonly machine: Machine;
  readonly addressPrefix: string;
  readonly refused: (sandboxId: string, host: string) => void;
  readonly log: Logger;
}

/** Egress guard for this machine's sandboxes, by the slot numbers of the launcher. */
export class LocalEgress {
  readonly #options: LocalEgressOptions;
  readonly #guard: EgressGuard;

  constructor(options: LocalEgressOptions) {
    this.#options = options;
    const { machine, addressPrefix, refused, log } = options;
    const load = async (input: string): Promise<void> => {
      await runTool(machine.nft, ['-f', '-'], { input, signal: AbortSignal.timeout(NFT_LIMIT_MS) });
    };
    const { nameservers } = machine;
    this.#guard = new EgressGuard({
      gateway: `${addressPrefix}.0.1`,
      nameservers,
      load,
      refused,
      nowMs: Date.now,
      log,
    });
  }

  /** Starts answering queries of a sandbox. Its table is closed since before its first process. */
  async admit(id: string, slot: unknown, allowed: readonly string[] | null | undefined): Promise<void> {
    if (!isLimited(allowed)) return;
    await this.#guard.admit({ id, ...linkOf(this.#options.addressPrefix, slot), allowed });
  }

  /** Like `admit`, but logs failures: the sandbox then stays closed. */
  async admitAgain(id: string, slot: unknown, allowed: readonly string[] | null | undefined): Promise<void> {
    try {
      await this.admit(id, slot, allowed);
    } catch (error) {
      this.#options.log.error({ err: error, sandbox: id }, 'a running sandbox cannot resolve names');
    }
  }

  release(id: string): void {
    this.#guard.release(id);
  }

  close(): Promise<void> {
    return this.#guard.close();
  }
}

export function isLimited(allowed: readonly string[] | null | undefined): allowed is readonly string[] {
  return allowed !== null && allowed !== undefined;
}
