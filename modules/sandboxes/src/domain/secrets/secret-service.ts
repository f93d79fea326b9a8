import type { QuotaLimits } from '@svc/quotas';
import type { Clock, Random } from '@svc/runtime';
import { sandboxErrors } from '../../errors.ts';
import type { EgressRule } from '../egress-rules/egress-rule.ts';
import { newSecretId } from '../identifiers.ts';
import { secretContext, type Sealer, type Secret, type SecretRepository } from './secret.ts';

export interface SecretServiceDeps {
  readonly repository: SecretRepository;
  readonly sealer: Sealer;
  readonly quotaLimits: QuotaLimits;
  readonly clock: Clock;
  readonly random: Random;
  /** Called when a value is replaced or a secret is deleted. */
  readonly changed: () => void;
}

export interface NewSecret {
  readonly workspaceUuid: string;
  readonly name: string;
  readonly value: string;
  readonly creatorId: string;
}

/** Secrets of workspaces. Values go in and never come out. The caller authorizes access to the workspace. */
export class SecretService {
  readonly #deps: SecretServiceDeps;

  constructor(deps: SecretServiceDeps) {
    this.#deps = deps;
  }

  /** Throws SECRET_EXISTS and QUOTA_EXCEEDED. */
  async create({ workspaceUuid, name, value, creatorId }: NewSecret): Promise<Secret> {
    const { repository, sealer, quotaLimits, clock, random } = this.#deps;
    const id = newSecretId(random.bytes);
    const now = clock.now().toISOString();
    const secret = { id, workspaceUuid, name, version: 1, creatorId, createdAt: now, updatedAt: now };
    const sealed = await sealer.wrap(Buffer.from(value), secretContext(id));
    await repository.insert({ secret, sealed }, await quotaLimits.readLimits(workspaceUuid));
    this.#deps.changed(); // a rule may have waited for it
    return secret;
  }

  list(workspaceUuid: string): Promise<readonly Secret[]> {
    return this.#deps.repository.list(workspaceUuid);
  }

  /** Throws SECRET_NOT_FOUND. */
  async get(workspaceUuid: string, name: string): Promise<Secret> {
    const secret = await this.#deps.repository.find(workspaceUuid, name);
    if (secret === null) throw sandboxErrors.SECRET_NOT_FOUND({ details: { name } });
    return secret;
  }

  /** Throws UNKNOWN_SECRET if a rule names a secret that the workspace does not have. */
  async assertKnown(workspaceUuid: string, rules: readonly Pick<EgressRule, 'secret'>[]): Promise<void> {
    const names = rules.map(({ secret }) => secret);
    const found = await this.#deps.repository.versions([workspaceUuid], [...new Set(names)]);
    const known = new Set(found.map(({ name }) => name));
    const index = names.findIndex((name) => !known.has(name));
    if (index === -1) return;
    throw sandboxErrors.UNKNOWN_SECRET({ details: { field: `egress_rules[${index}].secret`, name: names[index] } });
  }

  /** Throws SECRET_NOT_FOUND. */
  async replace(workspaceUuid: string, name: string, value: string): Promise<Secret> {
    const { repository, sealer, clock } = this.#deps;
    const { id } = await this.get(workspaceUuid, name);
    const sealed = await sealer.wrap(Buffer.from(value), secretContext(id));
    const replaced = await repository.replace(id, sealed, clock.now().toISOString());
    if (replaced === null) throw sandboxErrors.SECRET_NOT_FOUND({ details: { name } });
    this.#deps.changed();
    return replaced;
  }

  /** Throws SECRET_NOT_FOUND. */
  async remove(workspaceUuid: string, name: string): Promise<void> {
    const isRemoved = await this.#deps.repository.remove(workspaceUuid, name);
    if (!isRemoved) throw sandboxErrors.SECRET_NOT_FOUND({ details: { name } });
    this.#deps.changed();
  }
}
