import type { HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { workspaceQuery } from './schemas.ts';

/** Where SSH clients connect, and the key they must find there. */
interface SshEntry {
  readonly port: number;
  readonly publicKey: string;
  readonly fingerprint: string;
}

export interface SshRoutesOptions {
  /** Null if the listener is off. */
  readonly address: () => SshEntry | null;
}

const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const sshSchema = Type.Object({
  enabled: Type.Boolean({ description: 'Whether `sandboxes.ssh.port` is set' }),
  port: Type.Union([Type.Integer(), Type.Null()]),
  host_key: nullableText('Public host key, as in `known_hosts`'),
  fingerprint: nullableText('SHA-256 fingerprint of the host key, as OpenSSH shows it'),
});

export function registerSshRoutes(app: HttpApp, { address }: SshRoutesOptions): void {
  app.get(
    '/api/ssh',
    {
      config: { action: 'sandbox:list' },
      schema: {
        tags: ['sandboxes'],
        summary: 'Show where sandboxes are reached over SSH',
        description:
          'Connect as `ssh SANDBOX@HOST -p PORT` with a registered SSH key, or an API token as the password. The user ' +
          'name is the ID or name of a sandbox; for a sandbox of a team, `SANDBOX+TEAM_UUID`.',
        querystring: Type.Object(workspaceQuery),
        response: { 200: sshSchema },
      },
    },
    async () => {
      const open = address();
      return {
        enabled: open !== null,
        port: open?.port ?? null,
        host_key: open?.publicKey ?? null,
        fingerprint: open?.fingerprint ?? null,
      };
    },
  );
}
