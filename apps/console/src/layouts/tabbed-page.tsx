import { Outlet, useMatches } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ConsolePath } from '../routes/paths.ts';
import { Page, type PageProps } from '../ui/page.tsx';
import { TabLinks } from '../ui/tab-links.tsx';

export interface Tab {
  label: string;
  to: ConsolePath;
  /** Pages of the tab whose path does not begin with its own. */
  also?: readonly ConsolePath[];
  /** A narrow column for settings instead of the full width. */
  narrow?: boolean;
}

export interface TabbedPageProps extends Pick<PageProps, 'title' | 'parent' | 'description' | 'actions'> {
  /** Label of the tabs, for screen readers. */
  label: string;
  /** The first tab has the path of the layout itself. */
  tabs: readonly Tab[];
  params: Readonly<Record<string, string>>;
  /** Shown instead of the current tab’s page, such as an error. */
  children?: ReactNode;
}

/** Common frame of a resource's pages: name, state, tabs and the current tab's page. */
export function TabbedPage({ label, tabs, params, children, ...page }: TabbedPageProps) {
  const path = useMatches({ select: (matches) => String(matches.at(-1)?.fullPath ?? '').replace(/\/$/, '') });
  const current = currentTab(tabs, path);
  return (
    <Page
      {...page}
      width={current?.narrow === true ? 'narrow' : 'normal'}
      navigation={
        <TabLinks
          label={label}
          tabs={tabs.map((tab) => ({ label: tab.label, link: { to: tab.to, params }, current: tab === current }))}
        />
      }
    >
      {children ?? <Outlet />}
    </Page>
  );
}

/** Returns the tab with the longest path that is a prefix of the page’s path. */
export function currentTab(tabs: readonly Tab[], path: string): Tab | undefined {
  const isPartOf = (to: string): boolean => path === to || path.startsWith(`${to}/`);
  return tabs
    .filter(({ to, also = [] }) => [to, ...also].some(isPartOf))
    .toSorted((one, other) => other.to.length - one.to.length)[0];
}
