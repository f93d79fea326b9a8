import type { Clock, Random } from '@svc/runtime';
import { timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import type { PasswordHasher } from '../password/password-hasher.ts';
import { assertSuitablePassword } from '../password/password-rules.ts';
import { setPassword } from '../password/set-password.ts';
import type { User, Workspace } from '../records.ts';
import type { AccountDatabase } from '../stores.ts';
import type { ApiTokens } from '../tokens/api-tokens.ts';
import { createPerson } from './create-person.ts';
import { normalizeEmail } from './email.ts';

export interface OwnerAccount {
  /** True on the first start only. */
  created: boolean;
  userId: string;
  email: string;
  /** The default workspace. */
  workspaceUuid: string;
  /** The generated password, shown once. Null unless this call created the owner without a given password. */
  generatedPassword: string | null;
}

export interface StartToken {
  token: string;
  userId: string;
  workspaceUuid: string;
}

const DEFAULT_EMAIL = 'owner@localhost';
const GENERATED_PASSWORD_BYTES = 18;
/** Purpose of start tokens before replicas had tokens of their own. */
const UNNAMED_REPLICA = 'start:svc up';

/** The operator of the installation: created on the first start, never by a request. */
export class OwnerAccounts {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #hasher: PasswordHasher;
  readonly #tokens: ApiTokens;

  constructor(database: AccountDatabase, clock: Clock, random: Random, hasher: PasswordHasher, tokens: ApiTokens) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#hasher = hasher;
    this.#tokens = tokens;
  }

  /** Creates the owner if there is none; e-mail and password matter on the first start only. */
  async ensure(wanted: { email?: string; password?: string }): Promise<OwnerAccount> {
    const existing = await this.#database.users.operator();
    if (existing !== undefined) return this.#describe(existing, false, null);
    const email = requireEmail(wanted.email ?? DEFAULT_EMAIL);
    if (wanted.password !== undefined) assertSuitablePassword(wanted.password, { email });
    const generated = wanted.password ?? this.#random.bytes(GENERATED_PASSWORD_BYTES).toString('base64url');
    const passwordHash = await this.#hasher.hash(generated, null);
    const owner = await this.#database.transact((stores) =>
      createPerson(
        stores,
        { clock: this.#clock, random: this.#random },
        { email, name: 'Owner', passwordHash, operator: true },
      ),
    );
    if (owner !== undefined) return this.#describe(owner, true, wanted.password === undefined ? generated : null);
    // Another replica created it between the check and the insert.
    const other = await this.#database.users.operator();
    if (other === undefined) throw accountErrors.EMAIL_TAKEN({ details: { email } });
    return this.#describe(other, false, null);
  }

  /** Sets a new password and ends every sign-in of the user, including known browsers. API tokens stay. */
  async resetPassword(email: string, password: string): Promise<{ userId: string; sessionsEnded: number }> {
    const user = await this.#database.users.byEmail(requireEmail(email));
    if (user === undefined) throw accountErrors.USER_NOT_FOUND();
    assertSuitablePassword(password, user);
    const passwordHash = await this.#hasher.hash(password, null);
    const now = timestamp(this.#clock.now());
    const sessionsEnded = await this.#database.transact((stores) =>
      setPassword(stores, { id: user.id, passwordHash }, now),
    );
    return { userId: user.id, sessionsEnded };
  }

  /**
   * Issues the owner's API token for this start and revokes that of the same replica's previous start. `previousToken`
   * is the one in the replica's owner file: an older version may have issued it without naming a replica.
   */
  async issueStartToken(replica: string, previousToken?: string): Promise<StartToken> {
    const owner = await this.#database.users.operator();
    if (owner === undefined) throw accountErrors.USER_NOT_FOUND();
    const name = `Start of svc up on replica ${replica}`;
    const unnamed = previousToken === undefined ? null : { token: previousToken, purpose: UNNAMED_REPLICA };
    const token = await this.#tokens.replaceForPurpose(owner.id, name, `start:${replica}`, unnamed);
    const workspace = await this.#defaultWorkspace(owner);
    return { token, userId: owner.id, workspaceUuid: workspace.uuid };
  }

  async #describe(owner: User, created: boolean, generatedPassword: string | null): Promise<OwnerAccount> {
    const workspace = await this.#defaultWorkspace(owner);
    return { created, userId: owner.id, email: owner.email ?? '', workspaceUuid: workspace.uuid, generatedPassword };
  }

  async #defaultWorkspace(owner: User): Promise<Workspace> {
    const workspace = await this.#database.workspaces.firstOwnedBy(owner.id);
    if (workspace === undefined) throw accountErrors.WORKSPACE_NOT_FOUND();
    return workspace;
  }
}

function requireEmail(text: string): string {
  const email = normalizeEmail(text);
  if (email !== undefined) return email;
  throw accountErrors.INVALID_REQUEST({ details: { field: 'email', reason: 'email is not an email address' } });
}
