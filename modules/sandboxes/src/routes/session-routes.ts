import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import type { HelperConnection } from '../domain/helper/helper-connection.ts';
import type { LiveSandboxes } from '../domain/live-sandboxes.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import { endSession, listSessions, type SessionInfo } from '../domain/terminal/sessions.ts';
import { idParamsSchema, workspaceQuerySchema } from './schemas.ts';

const tags = ['sandboxes'];

export interface SessionRoutesOptions {
  readonly prefix: string;
  readonly service: SandboxService;
  readonly live: LiveSandboxes;
}

const sessionSchema = Type.Object({
  session: Type.String(),
  pid: Type.Integer(),
  shell: Type.String(),
  cols: Type.Integer(),
  rows: Type.Integer(),
  attached: Type.Integer({ description: 'Number of attached clients' }),
  exited: Type.Boolean({
    description: 'Whether the shell has exited; its last output and exit code are kept for a client',
  }),
  started_at: Type.String({ format: 'date-time' }),
});
const listSchema = Type.Object({ terminals: Type.Array(sessionSchema), count: Type.Integer() });
const sessionParams = Type.Object({ id: Type.String({ maxLength: 100 }), session: Type.String({ maxLength: 64 }) });
const endedSchema = Type.Object({ session: Type.String(), deleted: Type.Literal(true) });

/** Lists and ends sessions; `/ws/terminal/ID?session=` creates and joins them. */
export function registerSessionRoutes(app: HttpApp, { prefix, service }: SessionRoutesOptions): void {
  const findConnection = async (workspaceUuid: string, id: string): Promise<HelperConnection> => {
    return service.connectionTo(await service.get(workspaceUuid, id));
  };

  app.get(
    `${prefix}/:id/terminals`,
    {
      config: { action: 'sandbox:read' },
      schema: {
        tags,
        summary: 'List terminal sessions, including those without a client',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        response: { 200: listSchema },
      },
    },
    async (request) => {
      const sessions = await listSessions(await findConnection(grantOf(request).workspaceUuid, request.params.id));
      return { terminals: sessions.map(toSessionView), count: sessions.length };
    },
  );

  app.delete(
    `${prefix}/:id/terminals/:session`,
    {
      config: { action: 'sandbox:exec' },
      schema: {
        tags,
        summary: 'End a terminal session and hang up its shell',
        params: sessionParams,
        querystring: workspaceQuerySchema,
        response: { 200: endedSchema },
      },
    },
    async (request) => {
      const { id, session } = request.params;
      await endSession(await findConnection(grantOf(request).workspaceUuid, id), session);
      return { session, deleted: true as const };
    },
  );
}

function toSessionView({
  startedAt,
  ...session
}: SessionInfo): Omit<SessionInfo, 'startedAt'> & { started_at: string } {
  return { ...session, started_at: startedAt };
}
