import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IMAGE_LIMIT, type HttpApp, type ImageSender, type RouteRateLimit } from '@svc/http';
import { Type } from 'typebox';
import { clusterErrors } from '../../errors.ts';
import { createPackedChart } from '../../adapters/delivery/agent-chart.ts';
import { withImage } from '../../domain/agent-image.ts';
import { CHART_PATH, IMAGES_PATH, MANIFEST_PATH, type AgentDelivery } from '../../adapters/delivery/agent-delivery.ts';
import type { ImageArchitecture } from '../../adapters/delivery/image-archive.ts';

export interface DeliveryOptions {
  /** The project's `deploy` folder. */
  readonly folder: string;
  readonly delivery: AgentDelivery;
  readonly sender: ImageSender;
}

const tags = ['clusters'];
/** Far above what installations need; a whole company may share one address. */
const INSTALL_LIMIT: RouteRateLimit = { by: 'address', perMinute: 120, burst: 120 };
const HAS_BYTES = { type: 'string', format: 'binary' };
/** Maps the output of `uname -m` and OCI names to OCI names. */
const MACHINES: Readonly<Record<'amd64' | 'x86_64' | 'arm64' | 'aarch64', ImageArchitecture>> = {
  amd64: 'amd64',
  x86_64: 'amd64',
  arm64: 'arm64',
  aarch64: 'arm64',
};

/**
 * Serves the files that install a matching agent to Helm, kubectl and nodes, which send no token. They are not secret
 * and do not belong to a workspace; the agent's token is delivered separately.
 */
export function registerDeliveryRoutes(app: HttpApp, options: DeliveryOptions): void {
  addChartRoute(app, options);
  addManifestRoute(app, options);
  addImageRoute(app, options);
}

function addChartRoute(app: HttpApp, { folder }: DeliveryOptions): void {
  const chart = createPackedChart(join(folder, 'helm/svc-agent'));
  app.get(
    CHART_PATH,
    {
      config: { public: true, rateLimit: INSTALL_LIMIT },
      schema: {
        tags,
        summary: "Download the agent's packaged Helm chart; no credentials",
        response: {
          200: { description: 'The chart', content: { 'application/gzip': { schema: HAS_BYTES } } },
          304: { description: 'Not modified' },
        },
      },
    },
    async (request, reply) => {
      const { content, etag } = await chart();
      void reply.header('etag', etag).header('cache-control', 'public, no-cache');
      if (request.headers['if-none-match'] === etag) return reply.status(304).send();
      return reply.type('application/gzip').send(content);
    },
  );
}

function addManifestRoute(app: HttpApp, { folder, delivery }: DeliveryOptions): void {
  app.get(
    MANIFEST_PATH,
    {
      config: { public: true, rateLimit: INSTALL_LIMIT },
      schema: {
        tags,
        summary: "Download the agent's manifest for `kubectl apply`; no credentials",
        response: { 200: { description: 'The manifest', content: { 'application/yaml': { schema: HAS_BYTES } } } },
      },
    },
    async (_request, reply) => {
      const manifest = await readFile(join(folder, 'kubernetes/svc-agent.yaml'), 'utf8');
      const other = await delivery.image();
      return reply.type('application/yaml').send(other === null ? manifest : withImage(manifest, other));
    },
  );
}

function addImageRoute(app: HttpApp, { delivery: { images }, sender }: DeliveryOptions): void {
  app.get(
    `${IMAGES_PATH}/:machine`,
    {
      config: { public: true, rateLimit: IMAGE_LIMIT },
      schema: {
        tags,
        summary: "Download the agent's image as an archive for `ctr images import`; no credentials",
        params: Type.Object({
          machine: Type.Enum(['amd64', 'x86_64', 'arm64', 'aarch64'], {
            description: 'Architecture, as `uname -m` prints it',
          }),
        }),
        response: { 200: { description: 'The archive', content: { 'application/x-tar': { schema: HAS_BYTES } } } },
      },
    },
    async (request, reply) => {
      const architecture = MACHINES[request.params.machine];
      const archive = await images.archive(architecture);
      if (archive !== null) return sender.send(request, reply, archive, 'application/x-tar');
      const reason = 'run svc agent image --data FOLDER on its machine to build it';
      throw clusterErrors.IMAGE_NOT_FOUND({ details: { reference: architecture, reason } });
    },
  );
}
