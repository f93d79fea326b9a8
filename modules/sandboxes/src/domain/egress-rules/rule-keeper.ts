import { BackgroundLoop, KeyedQueue, pause, type Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { SandboxDriver } from '../driver.ts';
import type { HelperConnection } from '../helper/helper-connection.ts';
import type { SandboxRepository } from '../ports.ts';
import type { Sandbox } from '../sandbox.ts';
import { secretContext, type Sealer, type SecretRepository } from '../secrets/secret.ts';
import type { EgressAuthorities } from './egress-authorities.ts';
import { fillTemplate, type EgressAuthority, type EgressRule, type LiveEgressRule } from './egress-rule.ts';
import { installAuthority } from './install-authority.ts';

/** A deleted secret is added to no request after two seconds. */
const CHECK_EVERY_MS = 500;
/** How long the last known state is used if the database does not respond. */
const STALE_MS = 1_500;

export interface RuleKeeperDeps {
  readonly repository: Pick<SandboxRepository, 'find' | 'ofNodeWithRules' | 'rulesOf'>;
  readonly secrets: Pick<SecretRepository, 'sealed' | 'versions'>;
  readonly authorities: Pick<EgressAuthorities, 'ensure'>;
  readonly sealer: Sealer;
  readonly driver: Pick<SandboxDriver, 'applyRules'>;
  readonly node: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The rules that this process applies in a sandbox, and the state of the secrets that it knows. */
interface Applied {
  readonly workspaceUuid: string;
  readonly rules: readonly EgressRule[];
  readonly authority: EgressAuthority;
  readonly state: string;
}

/**
 * Keeps the rules of this node's running sandboxes applied: adds the current values, and follows changes of rules and
 * secrets at any replica.
 */
export class RuleKeeper {
  readonly #deps: RuleKeeperDeps;
  readonly #applied = new Map<string, Applied>();
  /** Those whose rules could not be applied when the platform started. */
  readonly #late = new Set<string>();
  readonly #queue = new KeyedQueue();
  readonly #loop: BackgroundLoop;
  #checkedAtMs = 0;

  constructor(deps: RuleKeeperDeps) {
    this.#deps = deps;
    this.#loop = new BackgroundLoop({
      run: () => this.#checkInTime(),
      intervalMs: CHECK_EVERY_MS,
      onError: (error) => void this.#failed(error),
      clock: deps.clock,
    });
  }

  /** Applies the rules of sandboxes that kept running, and follows changes. */
  async start(): Promise<void> {
    const { repository, node } = this.#deps;
    for (const { id } of await repository.ofNodeWithRules(node)) {
      await this.#sync(id).catch((error: unknown) => this.#postpone(id, error));
    }
    this.#checkedAtMs = this.#deps.clock.nowMs();
    this.#loop.start();
  }

  /** Checks now instead of later. */
  wake(): void {
    if (this.#applied.size > 0) this.#loop.wake();
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  /** Makes programs of a sandbox trust its authority, if it shall have rules. Before they are applied. */
  async prepare({ id, egressRules }: Pick<Sandbox, 'id' | 'egressRules'>, connection: HelperConnection): Promise<void> {
    if (egressRules.length > 0) await installAuthority(connection, (await this.#deps.authorities.ensure(id)).cert);
  }

  /** Applies the rules of the record of a running sandbox, or ends those that it had. */
  async apply({ id, egressRules }: Pick<Sandbox, 'id' | 'egressRules'>): Promise<void> {
    if (egressRules.length > 0 || this.#applied.has(id)) await this.#sync(id);
  }

  #postpone(id: string, error: unknown): void {
    this.#deps.log.warn({ err: error, sandbox: id }, 'the rules of a sandbox are not applied yet');
    this.#late.add(id);
  }

  /** A query that is never answered fails too. */
  async #checkInTime(): Promise<void> {
    const done = new AbortController();
    const late = pause(this.#deps.clock, STALE_MS, done.signal).then(() => {
      throw new Error('the database did not respond in time');
    });
    await Promise.race([this.#check(), late]).finally(() => done.abort());
  }

  /** One query for all sandboxes and one for all secrets; the rest only on a change. */
  async #check(): Promise<void> {
    const late = [...this.#late];
    this.#late.clear();
    for (const id of late) {
      await this.#sync(id).catch((error: unknown) => this.#postpone(id, error));
    }
    if (this.#applied.size > 0) {
      const ids = [...this.#applied.keys()];
      const current = await this.#deps.repository.rulesOf(ids);
      const states = await this.#states([...this.#applied.values()]);
      await Promise.all(
        ids.map(async (id) => {
          const applied = this.#applied.get(id);
          const rules = current.get(id);
          if (applied === undefined) return;
          if (rules === undefined) this.#applied.delete(id); // it no longer runs
          else if (stateOf(applied.workspaceUuid, rules, states) !== applied.state) {
            await this.#sync(id).catch((error: unknown) => this.#withdraw(id, error));
          }
        }),
      );
    }
    this.#checkedAtMs = this.#deps.clock.nowMs();
  }

  /** Applies the rules of the record with the current values. */
  #sync(id: string): Promise<void> {
    return this.#queue.run(id, async () => {
      const { repository, driver, authorities } = this.#deps;
      const sandbox = await repository.find(id);
      if (sandbox === null || sandbox.egressRules.length === 0) {
        this.#applied.delete(id);
        await driver.applyRules?.(id, null);
        return;
      }
      const { workspaceUuid, egressRules: rules } = sandbox;
      const authority = await authorities.ensure(id);
      const states = await this.#states([{ workspaceUuid, rules }]); // before the values, so that a change is noticed
      const live = await this.#fill(workspaceUuid, rules);
      await driver.applyRules?.(id, { workspaceUuid, rules: live, authority });
      this.#applied.set(id, { workspaceUuid, rules, authority, state: stateOf(workspaceUuid, rules, states) });
    });
  }

  async #fill(workspaceUuid: string, rules: readonly EgressRule[]): Promise<readonly LiveEgressRule[]> {
    const { secrets, sealer } = this.#deps;
    const values = new Map<string, string>();
    for (const { secret, sealed } of await secrets.sealed(workspaceUuid, namesOf(rules))) {
      values.set(secret.name, (await sealer.unwrap(sealed, secretContext(secret.id))).toString());
    }
    return rules.map(({ host, header, query, insecure, secret, template }) => {
      const value = values.get(secret);
      return { host, header, query, insecure, content: value === undefined ? null : fillTemplate(template, value) };
    });
  }

  /** The id and version of each secret, by workspace and name. */
  async #states(applied: readonly Pick<Applied, 'workspaceUuid' | 'rules'>[]): Promise<ReadonlyMap<string, string>> {
    const workspaces = [...new Set(applied.map(({ workspaceUuid }) => workspaceUuid))];
    const names = [...new Set(applied.flatMap(({ rules }) => namesOf(rules)))];
    const found = await this.#deps.secrets.versions(workspaces, names);
    return new Map(found.map((each) => [keyOf(each.workspaceUuid, each.name), `${each.id}/${each.version}`]));
  }

  /** Without the database, a deletion would not be noticed. */
  async #failed(error: unknown): Promise<void> {
    const { clock, log } = this.#deps;
    log.warn({ err: error }, 'the secrets of sandboxes could not be checked');
    if (clock.nowMs() - this.#checkedAtMs < STALE_MS) return;
    await Promise.all([...this.#applied.keys()].map((id) => this.#withdraw(id, error)));
  }

  /** Adds nothing to the requests of a sandbox, which fail, until a check has applied its rules again. */
  async #withdraw(id: string, error: unknown): Promise<void> {
    const { driver, log } = this.#deps;
    const applied = this.#applied.get(id);
    if (applied === undefined || applied.state === '') return;
    log.error({ err: error, sandbox: id }, 'the secrets of a sandbox are withdrawn');
    this.#applied.set(id, { ...applied, state: '' });
    const rules = applied.rules.map((rule) => ({ ...rule, content: null }));
    await driver
      .applyRules?.(id, { workspaceUuid: applied.workspaceUuid, rules, authority: applied.authority })
      .catch((cause: unknown) => log.error({ err: cause, sandbox: id }, 'secrets could not be withdrawn'));
  }
}

function namesOf(rules: readonly EgressRule[]): string[] {
  return [...new Set(rules.map(({ secret }) => secret))];
}

function keyOf(workspaceUuid: string, name: string): string {
  return `${workspaceUuid}/${name}`;
}

/** Differs whenever other values, or other rules, have to be applied. */
function stateOf(workspaceUuid: string, rules: readonly EgressRule[], states: ReadonlyMap<string, string>): string {
  return JSON.stringify([rules, namesOf(rules).map((name) => states.get(keyOf(workspaceUuid, name)) ?? null)]);
}
