export {
  done,
  newExpiredToken,
  newMember,
  newSandboxToken,
  newServiceAccount,
  newTeam,
  newToken,
  signIn,
  type Caller,
  type Person,
} from './callers.ts';
export { startHeldPlatform, type HeldPlatform, type Route } from './held-platform.ts';
