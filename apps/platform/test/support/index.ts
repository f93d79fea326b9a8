export {
  bearer,
  done,
  newExpiredToken,
  newMember,
  newSandboxToken,
  newServiceAccount,
  newTeam,
  newToken,
  signIn,
  startIssuer,
  type Caller,
  type Person,
} from './callers.ts';
export { startHeldPlatform, type HeldPlatform, type Route } from './held-platform.ts';
export { newPerson, prepare, type Prepared, type World } from './revocation-scenarios.ts';
export { cases, CREDENTIALS, WAYS, type CredentialKind, type Ends, type Way } from './revocation-table.ts';
export { startWholePlatform, type WholePlatform } from './whole-platform.ts';
export type { ListenFlag } from '../../src/listen.ts';
