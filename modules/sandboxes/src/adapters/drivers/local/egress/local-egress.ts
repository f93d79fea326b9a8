import { networkInterfaces } from 'node:os';
import type { Logger } from '@svc/telemetry';
import type { LiveEgressRules } from '../../../../domain/egress-rules/egress-rule.ts';
import { runTool } from '../../../images/run-tool.ts';
import type { IssueCertificate } from '../gateway/host-certificates.ts';
import { SecretGateways } from '../gateway/secret-gateways.ts';
import { noSteeringRules, steeredInterfaces } from '../gateway/steering-rules.ts';
import type { SandboxTenants } from '../local-mounts.ts';
import type { Machine } from '../machine.ts';
import { EgressGuard } from './egress-guard.ts';
import { closedRules, linkOf } from './egress-rules.ts';

const NFT_LIMIT_MS = 5000;

export interface LocalEgressOptions {
  readonly machine: Machine;
  readonly addressPrefix: string;
  readonly refused: (sandboxId: string, host: string) => void;
  /** Issues certificates of a sandbox's authority. */
  readonly issue: IssueCertificate;
  readonly tenants: Pick<SandboxTenants, 'shareOf'>;
  readonly log: Logger;
}

/** Egress guard for this machine's sandboxes, by the slot numbers of the launcher. */
export class LocalEgress {
  readonly #options: LocalEgressOptions;
  readonly #guard: EgressGuard;
  readonly #gateways: SecretGateways;

  constructor(options: LocalEgressOptions) {
    this.#options = options;
    const { machine, addressPrefix, refused, issue, tenants, log } = options;
    const gateway = `${addressPrefix}.0.1`;
    const load = (rules: string): Promise<void> => this.#load(rules);
    const nowMs = Date.now;
    this.#guard = new EgressGuard({ gateway, nameservers: machine.nameservers, load, refused, nowMs, log });
    this.#gateways = new SecretGateways({ gateway, guard: this.#guard, load, issue, nowMs, shareOf: tenants.shareOf });
  }

  /**
   * Removes what a previous process left in the firewall for rules of our sandboxes, by their slots, and of sandboxes
   * that are gone. Rules are applied again. Other platforms on this machine keep theirs.
   */
  async open(slots: readonly unknown[]): Promise<void> {
    const { machine, addressPrefix } = this.#options;
    const tables = await runTool(machine.nft, ['list', 'tables'], { signal: AbortSignal.timeout(NFT_LIMIT_MS) });
    const numbers = slots.filter((slot) => typeof slot === 'number');
    const ours = new Set(numbers.map((slot) => linkOf(addressPrefix, slot).interfaceName));
    const present = networkInterfaces();
    const left = steeredInterfaces(tables).filter((name) => ours.has(name) || present[name] === undefined);
    if (left.length > 0) await this.#load(left.map(noSteeringRules).join(''));
  }

  /** Starts answering queries of a sandbox. Its table is closed since before its first process. */
  async admit(id: string, slot: unknown, allowed: readonly string[] | null | undefined): Promise<void> {
    if (!isLimited(allowed)) return;
    await this.#guard.admit({ id, ...linkOf(this.#options.addressPrefix, slot), allowed });
  }

  /** Replaces the table of a running sandbox, or gives it one, in one transaction. The launcher deletes it at the end. */
  async change(id: string, slot: unknown, allowed: readonly string[]): Promise<void> {
    const { launcher, nft } = this.#options.machine;
    await launcher.call('restrict', { sandbox: id, nft, rules: closedRules(id, allowed) });
    await this.admit(id, slot, allowed);
    this.#gateways.cut(id);
  }

  /** Like `admit`, but logs failures: the sandbox then stays closed. */
  async admitAgain(id: string, slot: unknown, allowed: readonly string[] | null | undefined): Promise<void> {
    try {
      await this.admit(id, slot, allowed);
    } catch (error) {
      this.#options.log.error({ err: error, sandbox: id }, 'a running sandbox cannot resolve names');
    }
  }

  /** Applies rules for secrets to a running sandbox; null ends them. */
  async applyRules(id: string, slot: unknown, live: LiveEgressRules | null): Promise<void> {
    const link = { id, ...linkOf(this.#options.addressPrefix, slot) };
    if (live !== null) return this.#gateways.apply(link, live);
    await this.#gateways.release(id);
    this.#guard.endSteering(link);
  }

  async release(id: string): Promise<void> {
    this.#guard.release(id);
    await this.#gateways.release(id);
  }

  async close(): Promise<void> {
    await this.#gateways.close();
    await this.#guard.close();
  }

  async #load(input: string): Promise<void> {
    await runTool(this.#options.machine.nft, ['-f', '-'], { input, signal: AbortSignal.timeout(NFT_LIMIT_MS) });
  }
}

export function isLimited(allowed: readonly string[] | null | undefined): allowed is readonly string[] {
  return allowed !== null && allowed !== undefined;
}
