export {
  bearer,
  done,
  newMember,
  newSandboxToken,
  newServiceAccount,
  newTeam,
  newToken,
  newUploadPath,
  signIn,
  type Caller,
  type Person,
} from './callers.ts';
export { startHeldPlatform, type HeldPlatform, type Route } from './held-platform.ts';
