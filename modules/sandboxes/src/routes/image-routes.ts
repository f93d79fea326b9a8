import type { HttpApp } from '@svc/http';
import { Type } from 'typebox';
import type { SandboxDriver } from '../domain/driver.ts';
import type { ImageCatalog, ImageEntry } from '../domain/images/catalog.ts';
import type { ImageStore } from '../adapters/images/image-store.ts';
import { toProgressView } from './progress-view.ts';
import { imagesSchema, workspaceQuery } from './schemas.ts';

export interface ImageRoutesOptions {
  readonly catalog: ImageCatalog;
  readonly images: ImageStore;
  readonly driver: SandboxDriver;
}

export function registerImageRoutes(app: HttpApp, { catalog, images, driver }: ImageRoutesOptions): void {
  const render = async (entry: ImageEntry) => ({
    name: entry.name,
    display_name: entry.displayName,
    description: entry.description,
    category: entry.category,
    tags: [...entry.tags],
    popular: entry.popular,
    default: entry.name === catalog.defaultName,
    aliases: [...entry.aliases],
    cached: await images.isCached(entry),
    drivers: [driver.name],
    progress: toProgressView(images.findProgress(entry.name)),
  });

  app.get(
    '/api/images',
    {
      config: { action: 'image:list' },
      schema: {
        tags: ['sandboxes'],
        summary: 'List available images; only popular ones unless all=true',
        querystring: Type.Object({ ...workspaceQuery, all: Type.Optional(Type.Boolean()) }),
        response: { 200: imagesSchema },
      },
    },
    async (request) => {
      const shown = catalog.entries.filter((entry) => entry.popular || request.query.all === true);
      const categories: Record<string, string[]> = {};
      for (const entry of shown) (categories[entry.category] ??= []).push(entry.name);
      return {
        images: await Promise.all(shown.map(render)),
        categories,
        popular: catalog.entries.filter((entry) => entry.popular).map((entry) => entry.name),
        count: shown.length,
      };
    },
  );
}
