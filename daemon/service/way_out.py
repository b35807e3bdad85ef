"""How the platform is reached from the shell, where a service would not reach it."""

from collections.abc import Mapping

from daemon.settings import Settings


def only_way_out(settings: Settings, environ: Mapping[str, str]) -> list[str]:
    """Return a sentence for the proxy, and for the certificates behind it, that only the shell's `environ` names:
    without them the daemon finds no way to the platform (never-again 154)."""
    if settings.platform.kind == "local":
        return []
    import httpx  # noqa: PLC0415  (only with a platform elsewhere)

    from memsyncd.platforms.mem0 import DEFAULT_URL  # noqa: PLC0415
    from memsyncd.platforms.transport import choose_proxy  # noqa: PLC0415

    try:
        target = httpx.URL(settings.platform.url or DEFAULT_URL)
    except httpx.InvalidURL:  # the daemon says so itself
        return []
    named = {name.lower(): name for name in sorted(environ) if name.lower().endswith("_proxy") and environ[name]}
    proxies = {kind.removesuffix("_proxy"): environ[name] for kind, name in named.items()}  # the lower-case one counts
    variable = named.get(f"{target.scheme}_proxy") or named.get("all_proxy", "")
    told = "is set here, and a service does not see the shell's environment: write it into config.toml as"
    http = settings.http
    faults = [f"{variable} {told} http.proxy."] if not http.proxy and choose_proxy(target, "", proxies) else []
    if environ.get("SSL_CERT_FILE") and not http.ca_file and choose_proxy(target, http.proxy, proxies):
        faults.append(f"SSL_CERT_FILE {told} http.ca_file.")
    return faults
