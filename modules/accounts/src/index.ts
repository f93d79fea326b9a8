export { authorizeTable, type KnownAction } from './authorize/table.ts';
export type { Rule, SelfSubject, TeamSubject, WorkspaceSubject } from './authorize/rule.ts';
export { accountsConfigSchema, type AccountsConfig } from './config.ts';
export type { Effects } from './effects.ts';
export { accountErrors } from './errors.ts';
export { createAccountsModule, type AccountsDependencies, type AccountsModule } from './module.ts';
export type { OwnerAccount, StartToken } from './users/owner.ts';
export type { WorkspaceDirectory } from './workspaces/workspace-directory.ts';
export type { WorkspaceHoldings } from './workspaces/workspace-deletion.ts';
