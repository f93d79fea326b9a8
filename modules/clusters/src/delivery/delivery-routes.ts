import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HttpApp } from '@svc/http';
import { packChart } from './agent-chart.ts';
import { withImage } from './agent-image.ts';

export interface DeliveryOptions {
  /** The project's folder `deploy`. */
  readonly folder: string;
  /** The agent's image in the manifest, `repository[:tag][@digest]`; the manifest's own when empty. */
  readonly image: string;
}

export const CHART_PATH = '/v1/agent/svc-agent.tgz';
export const MANIFEST_PATH = '/v1/agent/svc-agent.yaml';

const tags = ['clusters'];
const HAS_BYTES = { type: 'string', format: 'binary' };

/**
 * What installs an agent that fits this platform, for Helm and kubectl, which send no token. Nothing in it is secret or
 * of one workspace: the agent's own token goes another way.
 */
export function registerDeliveryRoutes(app: HttpApp, { folder, image }: DeliveryOptions): void {
  app.get(
    CHART_PATH,
    {
      config: { public: true },
      schema: {
        tags,
        summary: "The agent's Helm chart, packed; no credentials",
        response: { 200: { description: 'The chart.', content: { 'application/gzip': { schema: HAS_BYTES } } } },
      },
    },
    async (_request, reply) => reply.type('application/gzip').send(await packChart(join(folder, 'helm/svc-agent'))),
  );
  app.get(
    MANIFEST_PATH,
    {
      config: { public: true },
      schema: {
        tags,
        summary: 'The agent as one manifest for `kubectl apply`; no credentials',
        response: { 200: { description: 'The manifest.', content: { 'application/yaml': { schema: HAS_BYTES } } } },
      },
    },
    async (_request, reply) => {
      const manifest = await readFile(join(folder, 'kubernetes/svc-agent.yaml'), 'utf8');
      return reply.type('application/yaml').send(image === '' ? manifest : withImage(manifest, image));
    },
  );
}
