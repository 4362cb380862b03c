# Image of the main job, without tests: about 0.8 GB, of which the packages are 0.67 GB.
#   docker build -t memsys .
#   docker run --rm memsys
#   docker run --rm --user "$(id -u)" -v "$PWD:/work" memsys memsys run dataset=locomo dataset.path=my.json
FROM python:3.12-slim AS built
WORKDIR /source
COPY . .
RUN python -m venv /opt/memsys && /opt/memsys/bin/pip install --no-cache-dir -c requirements.lock .

FROM python:3.12-slim
COPY --from=built /opt/memsys /opt/memsys
RUN useradd --create-home memsys && mkdir /work && chown memsys /work
USER memsys
ENV PATH=/opt/memsys/bin:$PATH MPLCONFIGDIR=/tmp/matplotlib MEMSYS_CACHE=/tmp/memsys
WORKDIR /work
CMD ["memsys", "run", "strategy=graph_expand"]
