export {
  createCredentialRef,
  createMaker,
  type Access,
  type Action,
  type AuditEntry,
  type AuditLog,
  type AuthorizeRequest,
  type CredentialRef,
  type CredentialSource,
  type Grant,
  type Maker,
  type MakerRequest,
  type Principal,
  type Role,
} from './access.ts';
export { accessErrors } from './errors.ts';
export {
  confirmAccess,
  createGrantedAccess,
  createGrantedRight,
  narrowRight,
  type GrantedAccess,
} from './granted-right.ts';
export { createHeldRights, HeldRights, observeHeldRights, type HeldRight } from './held-rights.ts';
export {
  confineSetCookie,
  cookieValues,
  foreignCookies,
  PLATFORM_COOKIES,
  serializeCookie,
  type PlatformCookie,
} from './platform-cookies.ts';
export { isTrustedOrigin, subprotocolToken } from './websocket.ts';
