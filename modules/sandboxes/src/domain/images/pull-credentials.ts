import type { KeyObject } from 'node:crypto';
import type { AuditLog } from '@svc/access';
import type { Clock, Random } from '@svc/runtime';
import { accessToken, isSame } from '../access/access-tokens.ts';
import { newPullCredentialId } from '../identifiers.ts';

/** Whose nodes pull. */
export interface PullSubject {
  /** ID of a connected cluster, or what `nodeSubject` returns. Also the user name. */
  readonly subject: string;
  /** The workspace whose templates they may pull; null: none. */
  readonly workspaceUuid: string | null;
}

/** What the nodes of one cluster pull images with. */
export interface PullCredential extends PullSubject {
  /** `spc_…` */
  readonly id: string;
  readonly createdAt: string;
}

/** User name and password of a registry. */
export interface PullLogin {
  readonly username: string;
  readonly password: string;
}

export interface PullCredentialRepository {
  /** Stores the credential unless its subject has one. Returns the stored one. */
  ensure(credential: PullCredential): Promise<PullCredential>;
  /** Replaces a credential, unless that happened meanwhile. */
  replace(id: string, credential: PullCredential): Promise<void>;
  find(id: string): Promise<PullCredential | null>;
  remove(id: string): Promise<void>;
}

export interface PullCredentialsDeps {
  readonly repository: PullCredentialRepository;
  readonly key: () => Promise<KeyObject>;
  /** Whether the nodes of a subject still belong to the platform. */
  readonly isCurrent: (subject: PullSubject) => Promise<boolean>;
  readonly audit: AuditLog;
  readonly clock: Clock;
  readonly random: Random;
}

const PURPOSE = 'svc-image-pull';
const PASSWORD = /^svc_(spc_[a-z2-7]{26})-([A-Za-z0-9_-]{43})$/;
/** Pods that are being created meanwhile pull again with the next one. */
const LIFETIME_MS = 30 * 86_400_000;
/** Pulls of the last pods with a credential end by themselves, even if nothing issues the next one. */
const GRACE_MS = 86_400_000;

/** The nodes of the cluster that a node of the platform runs its own sandboxes in. */
export function nodeSubject(node: string): PullSubject {
  return { subject: `node-${node}`, workspaceUuid: null };
}

/**
 * Credentials by which clusters pull images from the platform, one for each. The password is derived from the record and a key
 * that is sealed in the database, so that every replica knows it and it is stored nowhere.
 */
export class PullCredentials {
  readonly #deps: PullCredentialsDeps;

  constructor(deps: PullCredentialsDeps) {
    this.#deps = deps;
  }

  /** Returns the login of the subject: the same for 30 days, then another one, which revokes it. Unused, it ends a day later. */
  async issue(wanted: PullSubject): Promise<PullLogin> {
    const { repository, clock } = this.#deps;
    const draft = this.#create(wanted);
    let stored = await repository.ensure(draft);
    if (ageMs(stored, clock) >= LIFETIME_MS || stored.workspaceUuid !== wanted.workspaceUuid) {
      await repository.replace(stored.id, draft);
      stored = await repository.ensure(draft);
    }
    if (stored.id === draft.id) await this.#record(stored);
    return { username: stored.subject, password: await this.#passwordOf(stored) };
  }

  /** Returns the credential of a login; null if it is none, or none any more. */
  async check({ username, password }: PullLogin): Promise<PullCredential | null> {
    const id = PASSWORD.exec(password)?.[1];
    if (id === undefined) return null;
    // Derived before the record is read, so that nothing tells whether there is one.
    const isDerived = isSame(password, await this.#passwordOf({ id, subject: username }));
    const stored = isDerived ? await this.#deps.repository.find(id) : null;
    if (stored === null || stored.subject !== username) return null;
    const isExpired = ageMs(stored, this.#deps.clock) >= LIFETIME_MS + GRACE_MS;
    if (!isExpired && (await this.#deps.isCurrent(stored))) return stored;
    await this.#deps.repository.remove(stored.id);
    return null;
  }

  #create({ subject, workspaceUuid }: PullSubject): PullCredential {
    const { random, clock } = this.#deps;
    return { id: newPullCredentialId(random.bytes), subject, workspaceUuid, createdAt: clock.now().toISOString() };
  }

  async #passwordOf({ id, subject }: Pick<PullCredential, 'id' | 'subject'>): Promise<string> {
    return accessToken(await this.#deps.key(), PURPOSE, id, subject);
  }

  #record({ id, subject, workspaceUuid }: PullCredential): Promise<void> {
    return this.#deps.audit.record({
      principal: null, // the platform itself
      action: 'cluster:run-sandboxes',
      resource: `pull-credential/${id}`,
      workspaceUuid,
      outcome: 'success',
      status: 201,
      remoteAddress: '',
      requestId: '',
      details: { subject },
    });
  }
}

function ageMs({ createdAt }: PullCredential, clock: Clock): number {
  return clock.nowMs() - Date.parse(createdAt);
}
