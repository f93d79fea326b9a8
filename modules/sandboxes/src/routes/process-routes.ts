import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import type { ProcessInfo } from '../domain/processes/process-info.ts';
import type { ProcessService } from '../domain/processes/process-service.ts';
import { goneSignal } from './request-signal.ts';
import { idParamsSchema, workspaceQuerySchema } from './schemas.ts';

const tags = ['sandboxes'];

const processSchema = Type.Object({
  pid: Type.Integer(),
  tag: Type.Union([Type.String(), Type.Null()]),
  argv: Type.Array(Type.String()),
  cwd: Type.String(),
  tty: Type.Boolean({ description: 'Whether it runs on a terminal' }),
  started_at: Type.String({ format: 'date-time' }),
});

const signalSchema = Type.Object(
  {
    signal: Type.Union(
      ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGKILL', 'SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGSTOP', 'SIGCONT'].map((name) =>
        Type.Literal(name),
      ),
    ),
  },
  { additionalProperties: false },
);

export interface ProcessRoutesOptions {
  readonly prefix: string;
  readonly processes: ProcessService;
}

/** Lists and signals the processes that the platform started in a sandbox. */
export function registerProcessRoutes(app: HttpApp, { prefix, processes }: ProcessRoutesOptions): void {
  app.get(
    `${prefix}/:id/processes`,
    {
      config: { action: 'sandbox:read' },
      schema: {
        tags,
        summary: 'List running processes that were started through the API: commands, terminals, background processes',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        response: { 200: Type.Object({ processes: Type.Array(processSchema), count: Type.Integer() }) },
      },
    },
    async (request, reply) => {
      const { workspaceUuid } = grantOf(request);
      const of = await processes.of(workspaceUuid, request.params.id, goneSignal(reply));
      const running = await of.list();
      return { processes: running.map(toProcessView), count: running.length };
    },
  );

  app.post(
    `${prefix}/:id/processes/:pid/signal`,
    {
      config: { action: 'sandbox:exec' },
      schema: {
        tags,
        summary: 'Send a signal to a process and its children',
        params: Type.Object({ ...idParamsSchema.properties, pid: Type.Integer({ minimum: 2, maximum: 4_194_304 }) }),
        querystring: workspaceQuerySchema,
        body: signalSchema,
        response: { 200: Type.Object({ pid: Type.Integer(), signal: Type.String() }) },
      },
    },
    async (request, reply) => {
      const { id, pid } = request.params;
      const { signal } = request.body;
      const of = await processes.of(grantOf(request).workspaceUuid, id, goneSignal(reply));
      await of.signal({ pid }, signal);
      return { pid, signal };
    },
  );
}

function toProcessView({ pid, tag, argv, cwd, tty, startedAt }: ProcessInfo) {
  return { pid, tag, argv: [...argv], cwd, tty, started_at: startedAt };
}
