import type { Logger } from '@svc/telemetry';
import type { ClustersConfig } from '../../config.ts';
import type { Cluster } from '../../domain/cluster.ts';
import { installCommands, type InstallCommands } from '../../domain/install.ts';
import { parseImage, platformImage, type ImageReference } from '../../domain/agent-image.ts';
import { AgentImages } from './agent-images.ts';

export const CHART_PATH = '/v1/agent/svc-agent.tgz';
export const MANIFEST_PATH = '/v1/agent/svc-agent.yaml';
/** Followed by what `uname -m` says. */
export const IMAGES_PATH = '/v1/agent/images';
/** A pull is about six requests, and many nodes may share an address. All routes of images count together. */
export const IMAGE_LIMIT = { by: 'address', perMinute: 3000, burst: 3000 } as const;
/** The one repository of images, below the platform's own host, so that a node pulls `HOST/svc-agent:VERSION`. */
export const REPOSITORY = 'svc-agent';

export interface AgentDeliveryOptions {
  install: ClustersConfig['install'];
  /** Where an operator puts the agent's image; need not exist. */
  imagesFolder: string;
  /** Where agents, users and nodes reach the platform; asked when needed. */
  publicUrl: () => string;
  log: Logger;
}

/** How the agent gets into clusters: what the platform serves of it, and the commands that take it from there. */
export class AgentDelivery {
  readonly #options: AgentDeliveryOptions;
  readonly images: AgentImages;

  constructor(options: AgentDeliveryOptions) {
    this.#options = options;
    this.images = new AgentImages({
      folder: options.imagesFolder,
      onRejected: (file, error) => options.log.warn({ err: error, file }, 'clusters: no image of the agent'),
    });
  }

  async commandsFor(cluster: Cluster, token: string): Promise<InstallCommands> {
    const { install, publicUrl } = this.#options;
    const image = await this.image();
    const available = (await this.images.available()).length > 0;
    return installCommands({
      clusterName: cluster.name,
      clusterId: cluster.id,
      token,
      apiUrl: publicUrl(),
      namespace: install.namespace,
      chart: install.chart === '' ? `${publicUrl()}${CHART_PATH}` : install.chart,
      manifest: install.manifest === '' ? `${publicUrl()}${MANIFEST_PATH}` : install.manifest,
      image,
      imported: image === null ? { url: `${publicUrl()}${IMAGES_PATH}`, available } : null,
    });
  }

  /**
   * What the configuration names; else the platform's own where nodes can pull it: they take nothing without TLS, nor from
   * an authority that they do not know, which is what certifies a platform without an https address.
   */
  async image(): Promise<ImageReference | null> {
    const { install, publicUrl } = this.#options;
    const given = parseImage(install.image);
    if (given !== null || !publicUrl().startsWith('https:')) return given;
    return (await this.images.available()).length === 0 ? null : platformImage(publicUrl(), REPOSITORY);
  }
}
