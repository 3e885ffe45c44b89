# For people: each target installs what is missing, builds and runs. The build itself is CMake's.
BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
DATA   ?=

.PHONY: all setup demo test install clean

all: setup
	@cmake -G Ninja -S . -B $(BUILD) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@cmake --build $(BUILD) -j $(JOBS) --target ingot_command ingot ingot_static

setup:
	@scripts/setup build

# Trains on photographs of clothes and names some pictures it has not seen. DATA=DIR takes the four
# Fashion-MNIST files from DIR where the Debian package can't be had.
demo: all
	@scripts/demo $(BUILD)/ingot $(DATA)

test: all
	@scripts/setup test
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

install: all
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf $(BUILD)
