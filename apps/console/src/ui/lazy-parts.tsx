import {
  cloneElement,
  createElement,
  lazy,
  Suspense,
  useEffect,
  useState,
  type ComponentType,
  type ReactElement,
} from 'react';

interface OpenProps {
  open: boolean;
}

/** A dialog whose script is loaded when it is first opened. It stays mounted, so that it can close with its animation. */
export function lazyDialog<Props extends OpenProps>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> {
  const Loaded = lazy(load);
  return function LazyDialog(props: Props) {
    const [wasOpened, setWasOpened] = useState(props.open);
    if (props.open && !wasOpened) setWasOpened(true);
    return wasOpened ? <Suspense fallback={null}>{createElement(Loaded, props)}</Suspense> : null;
  };
}

export interface PopupProps {
  trigger: ReactElement;
  /** It was asked for before its script was there. */
  defaultOpen: boolean;
}

export interface LazyPopupProps {
  /** A button; it stands there from the beginning. */
  trigger: ReactElement<{ onClick?: () => void }>;
  load: () => Promise<ComponentType<PopupProps>>;
}

/** A button whose menu or drawer is loaded once the page stands, or when it is first pressed. */
export function LazyPopup({ trigger, load }: LazyPopupProps) {
  const [Popup, setPopup] = useState<ComponentType<PopupProps> | null>(null);
  const [pressed, setPressed] = useState(false);
  useEffect(() => {
    let gone = false;
    const start = (): void => {
      // A script that cannot be loaded now is asked for again by the next page; the links of the page work without it.
      load().then(
        (component) => gone || setPopup(() => component),
        () => undefined,
      );
    };
    const timer = window.setTimeout(start, pressed ? 0 : AFTER_FIRST_PAINT_MS);
    return () => {
      gone = true;
      window.clearTimeout(timer);
    };
  }, [load, pressed]);
  if (Popup === null) return cloneElement(trigger, { onClick: () => setPressed(true) });
  return <Popup trigger={trigger} defaultOpen={pressed} />;
}

const AFTER_FIRST_PAINT_MS = 300;
