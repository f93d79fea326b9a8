import type {
  ApiToken,
  AuditPage,
  CreatedApiToken,
  CreatedInvitation,
  CurrentUser,
  GivenRole,
  Invitation,
  Member,
  Team,
  User,
  Workspace,
} from './accounts-types.ts';
import type { WorkspaceScope } from './platform.ts';
import type { CallOptions, Transport } from './transport.ts';

export interface AuditQuery extends WorkspaceScope {
  actor?: string | undefined;
  action?: string | undefined;
  since?: string | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
}
export type {
  ApiToken,
  AuditPage,
  CreatedApiToken,
  CreatedInvitation,
  CurrentUser,
  GivenRole,
  Invitation,
  Member,
  Team,
  User,
  Workspace,
  CallOptions,
  Transport,
};
