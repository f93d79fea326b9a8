import type { HttpApp } from '@svc/http';
import type { AccountServices } from '../domain/services.ts';
import { registerAccount } from './account.ts';
import { registerAudit } from './audit.ts';
import { registerGuest } from './guest.ts';
import { registerInvitationAcceptance } from './invitation-acceptance.ts';
import { registerInvitations } from './invitations.ts';
import { registerLogin } from './login.ts';
import { registerMembers } from './members.ts';
import { registerPassword } from './password.ts';
import { registerQuotaOverrides } from './quota-overrides.ts';
import { registerQuotas } from './quotas.ts';
import { registerServiceAccounts } from './service-accounts.ts';
import { registerSshKeys } from './ssh-keys.ts';
import { decorateTeamGrants } from './team-guard.ts';
import { registerTeams } from './teams.ts';
import { registerTokens } from './tokens.ts';
import { registerWorkspaceChanges } from './workspace-changes.ts';
import { registerWorkspaces } from './workspaces.ts';
import { Type } from 'typebox';

const schema = {
  tags: ['accounts'],
  summary: "Get the public keys that verify the platform's tokens (JWKS, RFC 7517)",
  security: [],
  response: {
    200: Type.Object({
      keys: Type.Array(
        Type.Object({
          kty: Type.Literal('OKP'),
          crv: Type.Literal('Ed25519'),
          x: Type.String(),
          kid: Type.String(),
          alg: Type.Literal('EdDSA'),
          use: Type.Literal('sig'),
        }),
      ),
    }),
  },
};

function registerJwks(app: HttpApp, services: AccountServices): void {
  // Public: it contains public keys only, and every verifier of a token needs them.
  app.get('/.well-known/jwks.json', { config: { public: true }, schema }, async (_request, reply) => {
    reply.header('cache-control', 'public, max-age=300');
    return services.keys.published();
  });
}

/** Registers the module's routes in their own plugin scope. Errors use the app's default flat format. */
export async function registerRoutes(app: HttpApp, services: AccountServices): Promise<void> {
  await app.register(async (part: HttpApp) => {
    part.decorateRequest('createdResource', '');
    decorateTeamGrants(part);
    registerLogin(part, services);
    registerAccount(part, services);
    registerPassword(part, services);
    registerGuest(part, services);
    registerJwks(part, services);
    registerTokens(part, services);
    registerSshKeys(part, services);
    registerTeams(part, services);
    registerMembers(part, services);
    registerInvitations(part, services);
    registerInvitationAcceptance(part, services);
    registerWorkspaces(part, services);
    registerWorkspaceChanges(part, services);
    registerQuotas(part, services);
    registerQuotaOverrides(part, services);
    registerServiceAccounts(part, services);
    registerAudit(part, services);
  });
}
